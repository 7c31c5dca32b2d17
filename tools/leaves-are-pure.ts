/**
 * Finds impure code in the sources of the leaf packages.
 *
 * A leaf has no dependency, imports only its own files, and names no global outside `PURE`: no clock, randomness or I/O, except as a default. The type checker
 * resolves names, so comments, strings and locals with the name of a global cause no error and hide none.
 */
import { globSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "typescript"
import { publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** The globals that a leaf may use as values. */
const PURE = new Set(
  `Array ArrayBuffer BigInt Boolean Buffer DataView Error Infinity JSON Map NaN Number Object Promise RangeError RegExp Response Set String Symbol
  SyntaxError TextDecoder TextEncoder TypeError URL URLSearchParams Uint16Array Uint32Array Uint8Array WeakMap WeakSet atob btoa
  decodeURIComponent encodeURIComponent isNaN parseFloat parseInt undefined`.split(/\s+/),
)

/** The globals of which a leaf may use only these members. */
const PURE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ["UTC", "parse"],
  Math: ["abs", "ceil", "floor", "log2", "max", "min", "pow", "round", "sign", "trunc"],
  crypto: ["subtle"],
}

/** The impure globals of files whose options replace each of them. */
const DEFAULTS: Readonly<Record<string, readonly string[]>> = {
  "packages/retry-policy/src/retry.ts": ["Date.now", "Math.random", "clearTimeout", "setTimeout"],
}

/** The files that may import the names in `PURE_NODE_CRYPTO` from `node:crypto`. These functions are pure and synchronous. */
const NODE_ONLY = /^packages\/(cursor\/src\/|signature\/src\/node)/
const PURE_NODE_CRYPTO = ["createHmac", "createHash", "createSecretKey", "hash", "timingSafeEqual", "KeyObject"]

const violations: string[] = []
const leaves = publishedPackages().filter(({ tags }) => tags.includes("leaf"))

for (const { folder, manifest } of leaves) {
  for (const field of ["dependencies", "peerDependencies", "optionalDependencies"] as const) {
    const names = Object.keys(manifest[field] ?? {})
    if (names.length > 0) violations.push(`${manifest.name} has ${field}: ${names.join(", ")}`)
  }
  const files = globSync("src/**/*.{ts,mts,cts,js,mjs,cjs}", { cwd: folder }).map((path) => join(folder, path))
  if (files.length === 0) violations.push(`${manifest.name} has no sources`)
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
  const refuse = (reason: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    violations.push(`${file}:${line + 1} ${reason}`)
  }
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const from =
      node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : "./"
    if (from === "node:crypto" && ts.isImportDeclaration(node) && NODE_ONLY.test(file)) {
      const names = node.importClause?.namedBindings
      // A namespace is checked where it is used: code that probes for a name which older versions of Node lack needs the namespace.
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
    const isPure =
      PURE.has(node.text) ||
      PURE_MEMBERS[node.text]?.includes(member) ||
      DEFAULTS[file]?.includes(named) ||
      isGivenDate(node)
    if (isGlobal(node, checker) && !isPure) {
      refuse(`names ${named}`)
    }
  }
  ts.forEachChild(node, (child) => visit(child, source, checker))
}

/** Reports whether `Date` is used for given times: `new Date(time)`, `it instanceof Date`. Without a time it reads the clock. */
function isGivenDate(name: ts.Identifier): boolean {
  const { parent } = name
  if (name.text !== "Date") return false
  if (ts.isNewExpression(parent)) return parent.arguments?.length === 1
  return ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword
}

/** Reports whether an identifier is a value by itself, rather than a member's name or part of a type. */
function isValue(name: ts.Identifier): boolean {
  const { parent } = name
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === name
  if (ts.isBindingElement(parent)) return parent.propertyName !== name
  if (ts.isPropertyDeclaration(parent)) return parent.name !== name
  return !ts.isPartOfTypeNode(name)
}

/** Reports whether a name is a namespace import. */
function isNamespace(name: ts.Identifier, checker: ts.TypeChecker): boolean {
  return (checker.getSymbolAtLocation(name)?.declarations ?? []).some(ts.isNamespaceImport)
}

/** Reports whether a value is a global: declared by the standard library, ambient, or not declared at all. */
function isGlobal(name: ts.Identifier, checker: ts.TypeChecker): boolean {
  const symbol = ts.isShorthandPropertyAssignment(name.parent)
    ? checker.getShorthandAssignmentValueSymbol(name.parent)
    : checker.getSymbolAtLocation(name)
  return (symbol?.declarations ?? []).every(
    (it) => it.getSourceFile().isDeclarationFile || (ts.getCombinedModifierFlags(it) & ts.ModifierFlags.Ambient) !== 0,
  )
}

report(violations, `${leaves.length} leaves`)
