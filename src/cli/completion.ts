import { type RootCommand, ShellCompDirective } from '@bomb.sh/tab'
import tab from '@bomb.sh/tab/commander'
import type { Command as CommanderCommand } from 'commander'
import type { Description } from './define-command.ts'
import { describe } from './program.ts'

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

/** If the script offers nothing, bash completes the names of files. */
const BASH_END = 'complete -o default -F __farthing_complete farthing\n'

/** Adds `farthing completion`, and `farthing complete`, which its scripts call. */
export function addCompletion(program: CommanderCommand): void {
  const root = tab(program, { completionCommandName: 'completion' })
  offerFiles(root, program)
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

/** Offers the names of files where a value is called `file`. */
function offerFiles(root: RootCommand, command: CommanderCommand, path = ''): void {
  const { options, arguments: args } = root.commands.get(path) ?? root
  for (const { flags, long = '' } of command.options) {
    const option = flags.endsWith('<file>') && options.get(long.slice(2))
    if (option) option.handler = () => leaveToShell(root)
  }
  const argument = args.get('file')
  if (argument) argument.handler = () => leaveToShell(root)
  for (const inner of command.commands)
    offerFiles(root, inner, path ? `${path} ${inner.name()}` : inner.name())
}

/** tab sets and prints the directive that no file fits. This prevents it once: the shell completes names of files. */
function leaveToShell(root: RootCommand): void {
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
