/** The regular expressions of `src`, as the compiler reads them. */
import { fileURLToPath } from 'node:url'
import * as ast from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

export type Expression = { place: string; source: string; flags: string }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Literals, texts of `new RegExp` and patterns of schemas. Throws for a `new RegExp` whose text is not known without
 * running the code, unless it compiles the pattern of a schema.
 */
export function expressionsOf(folder: string): Expression[] {
  const api = new API({ cwd: ROOT })
  try {
    const configuration = `${ROOT}tsconfig.json`
    const { program } = known(
      api.updateSnapshot({ openProjects: [configuration] }).getProject(configuration),
    )
    const names = program.getSourceFileNames().filter(name => name.startsWith(ROOT + folder))
    return names.flatMap(name => expressionsIn(known(program.getSourceFile(name))))
  } finally {
    api.close()
  }
}

function known<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the compiler does not know it')
  return value
}

function expressionsIn(file: ast.SourceFile): Expression[] {
  const found: Expression[] = []
  const constants = new Map<string, ast.Expression>()
  const placeOf = ({ pos }: ast.Node) =>
    `${file.fileName.slice(ROOT.length)}:${file.text.slice(0, pos).trimEnd().split('\n').length}`

  /** undefined unless the node is a constant text. */
  function textOf(node: ast.Node | undefined): string | undefined {
    if (!node) return undefined
    if (
      ast.isStringLiteral(node) ||
      ast.isNoSubstitutionTemplateLiteral(node) ||
      ast.isNumericLiteral(node)
    )
      return node.text
    if (ast.isIdentifier(node)) return textOf(constants.get(node.text))
    if (!ast.isTemplateExpression(node)) return undefined
    const parts = node.templateSpans.map(({ expression, literal }) => {
      const value = textOf(expression)
      return value === undefined ? undefined : value + literal.text
    })
    return parts.includes(undefined) ? undefined : node.head.text + parts.join('')
  }

  function visit(node: ast.Node): void {
    if (ast.isVariableDeclaration(node) && ast.isIdentifier(node.name) && node.initializer)
      constants.set(node.name.text, node.initializer)
    if (ast.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({
        place: placeOf(node),
        source: node.text.slice(1, end),
        flags: node.text.slice(end + 1),
      })
    }
    if (ast.isPropertyAssignment(node) && node.name.getText() === 'pattern') {
      const source = textOf(node.initializer)
      if (source !== undefined) found.push({ place: placeOf(node), source, flags: '' })
    }
    if (ast.isNewExpression(node) && node.expression.getText() === 'RegExp') {
      const [text, flags] = node.arguments ?? []
      const source = textOf(text)
      if (source !== undefined)
        found.push({ place: placeOf(node), source, flags: textOf(flags) ?? '' })
      // Patterns of schemas are found in the text of the schema.
      else if (!/\bpattern\b/.test(text?.getText() ?? ''))
        throw new Error(`${placeOf(node)} has no constant text: the test cannot judge it`)
    }
    node.forEachChild(visit)
  }

  visit(file)
  return found
}
