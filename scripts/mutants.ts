/** The places of `src` at which `npm run mutate` can break the code, as the compiler reads them. */
import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import * as ast from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

/** One change of one place. `start` and `end` are offsets in the text of the file. */
export type Mutant = {
  file: string
  line: number
  kind: string
  start: number
  end: number
  before: string
  after: string
}

type Change = [kind: string, node: ast.Node, after: string]

const OPPOSITES = new Map<ast.SyntaxKind, [kind: string, after: string]>([
  [ast.SyntaxKind.LessThanToken, ['boundary', '<=']],
  [ast.SyntaxKind.LessThanEqualsToken, ['boundary', '<']],
  [ast.SyntaxKind.GreaterThanToken, ['boundary', '>=']],
  [ast.SyntaxKind.GreaterThanEqualsToken, ['boundary', '>']],
  [ast.SyntaxKind.AmpersandAmpersandToken, ['and, or', '||']],
  [ast.SyntaxKind.BarBarToken, ['and, or', '&&']],
  [ast.SyntaxKind.PlusToken, ['sum', '-']],
  [ast.SyntaxKind.MinusToken, ['sum', '+']],
  [ast.SyntaxKind.TrueKeyword, ['constant', 'false']],
  [ast.SyntaxKind.FalseKeyword, ['constant', 'true']],
])

/** All mutants of the folders, in an order by the seed. It stays the same for the others when some come or go. */
export function mutantsOf(root: string, folders: string[], seed: string): Mutant[] {
  const api = new API({ cwd: root })
  try {
    const configuration = `${root}/tsconfig.json`
    const project = api.updateSnapshot({ openProjects: [configuration] }).getProject(configuration)
    const names = project?.program.getSourceFileNames() ?? []
    const chosen = names.filter(name =>
      folders.some(folder => name.startsWith(`${root}/${folder}/`)),
    )
    const found = chosen.flatMap(name => {
      const file = project?.program.getSourceFile(name)
      return file ? mutantsIn(file, relative(root, name)) : []
    })
    return shuffled(found, seed)
  } finally {
    api.close()
  }
}

function shuffled(mutants: Mutant[], seed: string): Mutant[] {
  const seen = new Map<string, number>()
  const places = mutants.map(mutant => {
    const name = [mutant.file, mutant.kind, mutant.before, mutant.after].join('\n')
    const nth = (seen.get(name) ?? 0) + 1
    seen.set(name, nth)
    return { mutant, place: createHash('sha256').update(`${seed}\n${name}\n${nth}`).digest('hex') }
  })
  return places.sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ mutant }) => mutant)
}

function mutantsIn(file: ast.SourceFile, name: string): Mutant[] {
  const found: Mutant[] = []
  const visit = (node: ast.Node): void => {
    if (ast.isTypeNode(node) || ast.isImportDeclaration(node)) return
    for (const [kind, place, after] of changesOf(node)) {
      const [start, end] = [place.getStart(file), place.end]
      const line = file.text.slice(0, start).split('\n').length
      found.push({ file: name, line, kind, start, end, before: file.text.slice(start, end), after })
    }
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

function changesOf(node: ast.Node): Change[] {
  if (ast.isIfStatement(node) || ast.isWhileStatement(node)) return [negated(node.expression)]
  if (ast.isConditionalExpression(node)) return [negated(node.condition)]
  if (ast.isBinaryExpression(node)) return ofOperator(node)
  if (ast.isCallExpression(node)) return ofArguments(node.arguments)
  if (ast.isReturnStatement(node)) return ofReturn(node)
  if (ast.isExpressionStatement(node)) return ofStatement(node)
  const opposite = OPPOSITES.get(node.kind)
  return opposite && opposite[0] === 'constant' ? [[opposite[0], node, opposite[1]]] : []
}

const ofReturn = (node: ast.ReturnStatement): Change[] =>
  !node.expression || node.expression.getText() === 'undefined'
    ? []
    : [['return', node, 'return undefined']]

const negated = (node: ast.Node): Change => ['condition', node, `!(${node.getText()})`]

function ofOperator({ left, operatorToken, right }: ast.BinaryExpression): Change[] {
  const opposite = OPPOSITES.get(operatorToken.kind)
  if (!opposite || [left, right].some(isText)) return []
  return [[opposite[0], operatorToken, opposite[1]]]
}

/** True for a text, and for a sum that begins or ends with a text. */
function isText(node: ast.Node): boolean {
  if (ast.isBinaryExpression(node)) return isText(node.left) || isText(node.right)
  return (
    ast.isStringLiteral(node) ||
    ast.isTemplateExpression(node) ||
    ast.isNoSubstitutionTemplateLiteral(node)
  )
}

/** Swaps the first two arguments, or adds one to a number. A function in place of another value would not compile. */
function ofArguments(values: readonly ast.Expression[]): Change[] {
  const number = values.find(ast.isNumericLiteral)
  if (number) return [['argument', number, String(Number(number.text.replaceAll('_', '')) + 1)]]
  const [first, second] = values
  if (
    !first ||
    !second ||
    [first, second].some(
      value => ast.isArrowFunction(value) || ast.isObjectLiteralExpression(value) || isText(value),
    )
  )
    return []
  return first.getText() === second.getText() ? [] : [['argument', first, second.getText()]]
}

function ofStatement(statement: ast.ExpressionStatement): Change[] {
  const { expression } = statement
  const removed: Change = ['statement', statement, ';']
  return ast.isAwaitExpression(expression)
    ? [['await', expression, expression.expression.getText()], removed]
    : [removed]
}
