import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { expect, it } from "vitest"

const FILE = "../src/contractTypes.ts"
const HEAD = "// Written by `pnpm --filter @outreach/client types` from the contract, which would bring zod with it.\n"
/** The contract's files whose interfaces are written out, and are copied. */
const WRITTEN_OUT = ["campaigns", "tokens", "events", "lists"]
/** The interfaces of the contract that zod infers. */
const INFERRED = [
  "Health",
  "FunnelCounts",
  "OutreachCounts",
  "QuotaStatus",
  "DigestRecord",
  "Digest",
  "OptionObject",
  "SubQuestionInput",
  "QuestionInput",
  "Publication",
  "CaseInput",
  "AudienceInput",
  "Targeting",
  "SurveyInput",
  "SurveyCreated",
  "ValidateResult",
  "PresignResult",
  "WebhookReceipt",
]

it("holds the contract's types, as TypeScript understands them", async () => {
  const contract = fileURLToPath(import.meta.resolve("@outreach/contract"))
  const sourceOf = (subject: string) => readFileSync(contract.replace("index.ts", `${subject}.ts`), "utf8")
  const copied = WRITTEN_OUT.flatMap(
    (subject) => sourceOf(subject).match(/^(?:\/\*\*[^\n]*\*\/\n)?(?:export )?interface .*?^\}$/gms) ?? [],
  )
  const { checker, exported } = load(contract)
  const inferred = INFERRED.map((name) => {
    const [declaration] = exported(name).declarations!.filter(ts.isInterfaceDeclaration)
    const comment = declaration!.getFullText().match(/\/\*\*(?:(?!\/\*\*).)*\*\/(?=\s*export)/s)?.[0]
    return `${comment}\nexport interface ${name} ${membersOf(checker, checker.getTypeAtLocation(declaration!))}`
  })
  const queries = checker.getDeclaredTypeOfSymbol(exported("Operations"))
  const rows = queries.getProperties().map((operation) => {
    const row = checker.getTypeOfSymbol(operation)
    const query = checker.getTypeOfSymbol(row.getProperty("query")!)
    const [input, output] = ["input", "output"].map((side) => {
      const zod = checker.getTypeOfSymbol(query.getProperty("_zod")!)
      return checker.getTypeOfSymbol(zod.getProperty(side)!)
    })
    return `  ${operation.name}: ${membersOf(checker, output!, input!, "  ")}`
  })
  const asked = `/** What each operation can be asked in its query, by wire name. */\nexport interface Queries {\n${rows.join("\n")}\n}`
  await expect([HEAD, ...[...copied, ...inferred, asked].map((text) => `${text}\n`)].join("\n")).toMatchFileSnapshot(
    FILE,
  )
})

/** Loads the contract with TypeScript's compiler. */
function load(entry: string) {
  const { config } = ts.readConfigFile(fileURLToPath(new URL("../../../tsconfig.base.json", import.meta.url)), (path) =>
    readFileSync(path, "utf8"),
  )
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, "")
  const program = ts.createProgram([entry], options)
  const checker = program.getTypeChecker()
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!
  const symbols = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]))
  const exported = (name: string): ts.Symbol => {
    const symbol = symbols.get(name)!
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  }
  return { checker, exported }
}

/** Returns the members of a type as text; those that `input` lets out are optional. */
function membersOf(checker: ts.TypeChecker, type: ts.Type, input: ts.Type = type, indent = ""): string {
  const members = type.getProperties().map((property) => {
    const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType
    const text = checker.typeToString(checker.getTypeOfSymbol(property), undefined, flags).replaceAll("'", '"')
    const isOptional = (input.getProperty(property.name)!.flags & ts.SymbolFlags.Optional) !== 0
    const name = /^\w+$/.test(property.name) ? property.name : JSON.stringify(property.name)
    return `${indent}  ${name}${isOptional ? "?" : ""}: ${text}${isOptional && !/\bundefined\b/.test(text) ? " | undefined" : ""}\n`
  })
  return members.length === 0 ? "{}" : `{\n${members.join("")}${indent}}`
}
