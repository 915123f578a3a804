/** Parses HTML as browsers do, for tests of the content of a page. */
import { type DefaultTreeAdapterTypes, parse, parseFragment } from 'parse5'

type Node = DefaultTreeAdapterTypes.Node
type Element = DefaultTreeAdapterTypes.Element

export type Found = {
  tag: string
  attributes: Record<string, string>
  text: string
  inside: Found[]
}

/** Returns every element in document order. `inside` has the descendants of each. */
export function elementsOf(source: string): Found[] {
  return descend(parse(source))
}

function descend(node: Node): Found[] {
  if (!('childNodes' in node)) return []
  return node.childNodes.flatMap(child => {
    if (!('tagName' in child)) return []
    const inside = descend(child)
    return [
      { tag: child.tagName, attributes: attributesOf(child), text: textOf(child), inside },
      ...inside,
    ]
  })
}

/** Returns the one element that meets `condition`. Throws if there are none or several. */
export function only(elements: Found[], condition: (element: Found) => boolean): Found {
  const found = elements.filter(condition)
  if (found.length !== 1) throw new Error(`${found.length} elements meet ${condition}`)
  return found[0]!
}

export const withId = (id: string) => (element: Found) => element.attributes.id === id
export const tagged = (tag: string) => (element: Found) => element.tag === tag
export const classed = (name: string) => (element: Found) =>
  (element.attributes.class ?? '').split(' ').includes(name)

/** One line for each start tag and text. Leaves out the order of attributes and classes, indentation and comments. */
export function normalise(source: string): string {
  return outline(/<!doctype/i.test(source) ? parse(source) : parseFragment(source), 0).join('\n')
}

function outline(node: Node, depth: number): string[] {
  const indent = '  '.repeat(depth)
  if (node.nodeName === '#text' && 'value' in node) {
    const text = node.value.replace(/\s+/g, ' ').trim()
    return text === '' ? [] : [indent + text]
  }
  if (!('childNodes' in node)) return []
  const inside = (to: number) => node.childNodes.flatMap(child => outline(child, to))
  return 'tagName' in node ? [indent + startTag(node), ...inside(depth + 1)] : inside(depth)
}

function startTag(element: Element): string {
  const attributes = Object.entries(attributesOf(element)).map(
    ([name, value]) =>
      ` ${name}="${name === 'class' ? value.split(/\s+/).sort().join(' ') : value}"`,
  )
  return `<${element.tagName}${attributes.sort().join('')}>`
}

function attributesOf(element: Element): Record<string, string> {
  return Object.fromEntries(element.attrs.map(({ name, value }) => [name, value]))
}

function textOf(node: Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : ''
}
