/**
 * Reads the leaf packages' sources with the compiler and finds what is not pure.
 *
 * A leaf has no dependency, imports only its own files, and names no global outside `PURE`: no clock, randomness or I/O. Names are
 * resolved by the type checker, so that a comment, a string or a local of the same name neither hides nor raises anything.
 */
import { globSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "typescript"
import { publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** The globals that a leaf may name as values. */
const PURE = new Set(
  `Array ArrayBuffer BigInt Boolean Buffer DataView Error Infinity JSON Map NaN Number Object Promise RangeError RegExp Set String Symbol
  SyntaxError TextDecoder TextEncoder TypeError URL URLSearchParams Uint16Array Uint32Array Uint8Array WeakMap WeakSet atob btoa
  decodeURIComponent encodeURIComponent isNaN parseFloat parseInt undefined`.split(/\s+/),
)

/** Globals of which a leaf may name these members alone. */
const PURE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ["UTC", "parse"],
  Math: ["abs", "ceil", "floor", "log2", "max", "min", "pow", "round", "sign", "trunc"],
  crypto: ["subtle"],
}

/** The files that may import these names from `node:crypto`: each is a function of its arguments, and synchronous. */
const NODE_ONLY = /^packages\/(cursor\/src\/|signature\/src\/node)/
const PURE_NODE_CRYPTO = ["createHmac", "createHash", "createSecretKey", "hash", "timingSafeEqual", "KeyObject"]

const breaches: string[] = []
const leaves = publishedPackages().filter(({ tags }) => tags.includes("leaf"))

for (const { folder, manifest } of leaves) {
  for (const field of ["dependencies", "peerDependencies", "optionalDependencies"] as const) {
    const names = Object.keys(manifest[field] ?? {})
    if (names.length > 0) breaches.push(`${manifest.name} has ${field}: ${names.join(", ")}`)
  }
  const files = globSync("src/**/*.{ts,mts,cts,js,mjs,cjs}", { cwd: folder }).map((path) => join(folder, path))
  if (files.length === 0) breaches.push(`${manifest.name} has no sources`)
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(folder, "tsconfig.json"), ts.sys.readFile).config,
    ts.sys,
    folder,
  )
  const program = ts.createProgram(files, config.options)
  for (const file of files) {
    const source = program.getSourceFile(file)
    if (source !== undefined) visit(source, source, program.getTypeChecker())
  }
}

function visit(node: ts.Node, source: ts.SourceFile, checker: ts.TypeChecker): void {
  const file = relative(root, source.fileName)
  const refuse = (what: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    breaches.push(`${file}:${line + 1} ${what}`)
  }
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const from =
      node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : "./"
    if (from === "node:crypto" && ts.isImportDeclaration(node) && NODE_ONLY.test(file)) {
      const names = node.importClause?.namedBindings
      // A namespace is looked into where it is used: a name that an older Node lacks can only be asked for there.
      if (names !== undefined && ts.isNamespaceImport(names) && node.importClause?.name === undefined) return
      if (names === undefined || !ts.isNamedImports(names) || node.importClause?.name !== undefined) {
        refuse(`imports ${from} whole`)
      } else {
        for (const { name, propertyName } of names.elements) {
          const imported = (propertyName ?? name).text
          if (!PURE_NODE_CRYPTO.includes(imported)) refuse(`imports ${imported} from ${from}`)
        }
      }
    } else if (!from.startsWith("./") && !from.startsWith("../")) refuse(`imports ${from}`)
  }
  if (node.kind === ts.SyntaxKind.ImportKeyword && ts.isCallExpression(node.parent)) refuse("imports at run time")
  if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) refuse("reads import.meta")
  if (ts.isImportTypeNode(node)) refuse("imports a type in passing")
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return
  if (ts.isModuleDeclaration(node)) refuse("declares a module or a global")
  if (ts.isIdentifier(node) && isValue(node)) {
    const member = ts.isPropertyAccessExpression(node.parent) ? node.parent.name.text : ""
    const named = [node.text, member].filter(Boolean).join(".")
    if (isNamespace(node, checker) && !PURE_NODE_CRYPTO.includes(member)) refuse(`names ${named}`)
    if (isGlobal(node, checker) && !PURE.has(node.text) && !PURE_MEMBERS[node.text]?.includes(member)) {
      refuse(`names ${named}`)
    }
  }
  ts.forEachChild(node, (child) => visit(child, source, checker))
}

/** Says whether an identifier stands for a value by itself, rather than as a member's name or in a type. */
function isValue(name: ts.Identifier): boolean {
  const { parent } = name
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === name
  if (ts.isBindingElement(parent)) return parent.propertyName !== name
  return !ts.isPartOfTypeNode(name)
}

/** Says whether a name stands for all that a module exports. */
function isNamespace(name: ts.Identifier, checker: ts.TypeChecker): boolean {
  return (checker.getSymbolAtLocation(name)?.declarations ?? []).some(ts.isNamespaceImport)
}

/** Says whether a value's name comes from outside the modules: the standard library, an ambient declaration, or nowhere at all. */
function isGlobal(name: ts.Identifier, checker: ts.TypeChecker): boolean {
  const symbol = ts.isShorthandPropertyAssignment(name.parent)
    ? checker.getShorthandAssignmentValueSymbol(name.parent)
    : checker.getSymbolAtLocation(name)
  return (symbol?.declarations ?? []).every(
    (it) => it.getSourceFile().isDeclarationFile || (ts.getCombinedModifierFlags(it) & ts.ModifierFlags.Ambient) !== 0,
  )
}

report(breaches, `${leaves.length} leaves`)
