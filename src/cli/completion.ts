import { type RootCommand, ShellCompDirective } from '@bomb.sh/tab'
import tab from '@bomb.sh/tab/commander'
import type { Command as CommanderCommand } from 'commander'
import type { Command, CommandGroup, Description, Row } from './define-command.ts'
import { describe, flagOf, isGroup } from './program.ts'

const completion: Description = {
  summary: 'print a script for your shell that completes commands',
  examples: [
    "echo 'source <(farthing completion bash)' >> ~/.bashrc",
    "echo 'source <(farthing completion zsh)' >> ~/.zshrc",
    'farthing completion fish > ~/.config/fish/completions/farthing.fish',
    'farthing completion powershell | Out-String | Invoke-Expression',
  ],
  after: `The command farthing must be on the PATH. In ~/.zshrc the line must stand after
compinit. That for PowerShell belongs into the file $PROFILE.`,
}

/** A substitute for the one function of bash-completion that the script for bash needs. */
const BASH_PRELUDE = `if ! declare -F _get_comp_words_by_ref > /dev/null; then
  _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  }
fi
`

/** Where the script offers nothing of its own, bash completes the names of files. */
const BASH_END = 'complete -o default -F __farthing_complete farthing\n'

/** Adds `farthing completion`, and `farthing complete`, which its scripts call. */
export function addCompletion(
  program: CommanderCommand,
  commands: Record<string, Command | CommandGroup>,
): void {
  const root = tab(program, { completionCommandName: 'completion' })
  offerValues(root, commands)
  const added = program.commands.find(command => command.name() === 'completion')
  const offered = root.commands.get('completion')
  if (!added || !offered) throw new Error('there is no command completion')
  offered.description = completion.summary
  // The scripts complete the command of this name only.
  describe(added, completion, line => line)
    .hook('preAction', ({ args: [shell] }) => {
      if (shell === 'bash') process.stdout.write(BASH_PRELUDE)
    })
    .hook('postAction', ({ args: [shell] }) => {
      if (shell === 'bash') process.stdout.write(BASH_END)
    })
}

/** Offers the values of options and arguments, and the names of files where the value is called `file`. */
function offerValues(
  root: RootCommand,
  commands: Record<string, Command | CommandGroup>,
  parent = '',
): void {
  for (const [name, command] of Object.entries(commands)) {
    const path = `${parent}${name}`
    if (isGroup(command)) {
      offerValues(root, command.commands, `${path} `)
      continue
    }
    const completed = root.commands.get(path)
    const offer = (target: { handler?: unknown } | undefined, row: Row) => {
      const handler = handlerFor(root, row)
      if (target && handler) target.handler = handler
    }
    for (const [key, row] of Object.entries(command.options ?? {}))
      offer(completed?.options.get(flagOf(key).slice(2)), row)
    if (command.argument)
      offer(completed?.arguments.get(command.argument.value?.slice(1, -1) ?? ''), command.argument)
  }
}

type Handler = (offer: (value: string, description: string) => void) => void

function handlerFor(root: RootCommand, { value, values }: Row): Handler | undefined {
  if (value === '<file>') return () => offerFiles(root)
  return (
    values &&
    (offer => {
      for (const each of values) offer(each, '')
    })
  )
}

/** tab sets and then prints that no file fits. Without that, once, the shell completes the names of files itself. */
function offerFiles(root: RootCommand): void {
  const value = ShellCompDirective.ShellCompDirectiveDefault
  Object.defineProperty(root, 'directive', {
    configurable: true,
    set: () => {},
    get() {
      Object.defineProperty(root, 'directive', { value, writable: true })
      return value
    },
  })
}
