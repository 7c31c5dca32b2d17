import { readdirSync } from "node:fs"
import { join } from "node:path"
import { ARGUMENTS } from "@outreach/backoffice/operators/recordArgument"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Context, Option } from "effect"
import { Command, type HelpDoc } from "effect/cli"
import { afterAll, describe, expect, it } from "vitest"
import { Access } from "../src/command.ts"
import { everyCommand, helpOf, wordsOf } from "../src/everyCommand.ts"
import { loadGroups, sharedFlags } from "../src/ops.ts"
import { formatHelp, HELP_WIDTH } from "../src/output/formatHelp.ts"
import { commandLine } from "./commandLine.ts"

const { run, meanwhile } = commandLine()

const folder = temporaryFolder("ops-every-command", afterAll)

const root = Command.make("ops").pipe(
  Command.withSubcommands(await loadGroups("")),
  Command.withSharedFlags(sharedFlags),
)
const commands = await Promise.all(
  (await everyCommand()).map(async ({ path, command }) => ({
    words: path.join(" "),
    access: Option.getOrUndefined(Context.getOption(command.annotations, Access)),
    doc: await helpOf(root, path),
  })),
)

/** These connect to a database by themselves, need none, or need its owner. */
const HAS_OTHER_TESTS = new Set(["bounces explain", "doctor", "migrate", "status"])

const MAIL = { MAIL_FROM: "outreach@acme.test", SMTP_URL: `smtp://${CLOSED_ADDRESS}` }

/** Moves the files that an example names into a folder without files. */
const inFolder = (word: string) => (/\.(?:csv|eml|html|json|jsonl|log)$/.test(word) ? join(folder, "none", word) : word)

/** Personal data, and a mark of writing direction that no format allows. */
const WRONG = "hunter2@clinic.test\u202E1234567893"

/** The inputs that any text parses as: names of files, ids of partners, words to search for, and addresses that the use case checks. */
const ACCEPT_ANY_TEXT = new Set(
  [
    "after",
    "against",
    "command",
    "dkim-key",
    "event",
    "file",
    "files",
    "headers",
    "html",
    "log",
    "operator",
    "out",
  ].concat(...["reason", "recipient", "rejects", "short-link", "text", "type", "url"]),
)

/** Their messages contain the start of the wrong entry, because they accept many. */
const NAME_THE_ENTRY = new Set(["retry-schedule", "retry-statuses"])

/** Returns for each input of a command a line where only its value is wrong. */
const wrongLines = ({ args = [], flags, examples = [] }: HelpDoc.HelpDoc) => {
  const words = wordsOf(examples[0]!.command)
  const isSwitch = (word: string) => flags.some(({ name, type }) => type === "boolean" && word === `--${name}`)
  const isFlag = (word = "") => word.startsWith("--")
  const places = [...words.keys()].filter(
    (i) => !isFlag(words[i]) && (!isFlag(words[i - 1]) || isSwitch(words[i - 1]!)),
  )
  return [
    ...args.map(({ name }, i) => ({ name, args: words.with(places.at(i - args.length)!, WRONG) })),
    ...flags.map(({ name, type }) => {
      const place = words.indexOf(`--${name}`)
      if (type === "boolean") return { name, args: [...words, `--${name}=${WRONG}`] }
      return { name, args: place === -1 ? [...words, `--${name}`, WRONG] : words.with(place + 1, WRONG) }
    }),
  ]
}

const newestEntry = () =>
  meanwhile(
    sql<{ id: string; command: string; code: string | null }>`
      select id, command, code from audit_log left join audit_results on command_id = id order by id desc limit 1`,
  ).then(([entry]) => entry)

describe("every command", () => {
  it("declares whether it reads, reveals or changes", () => {
    expect(
      commands.filter(({ access }) => access === undefined).map(({ words }) => words),
      "Create each of these commands with `command` of apps/ops/src/command.ts.",
    ).toEqual([])
  })

  it("decides for each argument whether the audit log records its value", () => {
    const names = commands.flatMap(({ access, words, doc: { args = [], flags } }) =>
      access === "reads" ? [] : [...args, ...flags].map(({ name }) => [words, name] as const),
    )
    expect(names.length).toBeGreaterThan(50)
    expect(
      names.filter(([, name]) => ARGUMENTS[name] === undefined),
      "Add each of these flags and arguments to ARGUMENTS of packages/backoffice/src/operators/recordArgument.ts.",
    ).toEqual([])
  })

  it(`shows its help within ${HELP_WIDTH} columns`, async () => {
    const groups = await Promise.all(
      [[], ...root.subcommands.flatMap(({ commands }) => commands.map(({ name }) => [name]))].map((path) =>
        helpOf(root, path),
      ),
    )
    const lines = [...groups, ...commands.map(({ doc }) => doc)].flatMap((doc) => formatHelp(doc).split("\n"))
    expect(lines.filter(({ length }) => length > HELP_WIDTH)).toEqual([])
  })

  it("has examples that start with the command", () => {
    const examples = commands.map(({ words, doc: { examples = [] } }) => ({
      words,
      isMissing: examples.length === 0,
      others: examples.filter(({ command }) => !command.startsWith(`ops ${words}`)),
    }))
    expect(examples).toEqual(commands.map(({ words }) => ({ words, isMissing: false, others: [] })))
  })

  it.each(commands.filter(({ words }) => !HAS_OTHER_TESTS.has(words)))(
    "runs its examples on an empty database, and audits them unless it only reads: $words",
    async ({ words, access, doc: { examples = [] } }) => {
      for (const { command } of examples) {
        const before = await newestEntry()
        // A failure is printed as JSON only if the output is.
        const args = wordsOf(command.replace(" --output csv", "")).map(inFolder)
        const json = args.includes("--output") ? [] : ["--output", "json"]
        const { code, stdout, stderr } = await run([...args, ...json], MAIL)
        const failure = code === 0 ? undefined : JSON.parse(stdout).error
        expect({ command, code, stderr, failure }).toEqual({
          ...{ command, code: failure === undefined ? 0 : 1, stderr: "" },
          failure: failure && { ...failure, message: expect.stringMatching(/^[^\n]+\.$/) },
        })
        expect(String(failure?.code)).not.toMatch(/^(?:usage|internal_error|database_failure|configuration)$/)
        const after = await newestEntry()
        expect(after).toEqual(
          access === "reads" ? before : { id: expect.any(String), command: words, code: failure?.code ?? null },
        )
        if (access !== "reads") expect(after?.id).not.toBe(before?.id)
      }
    },
  )

  it.each(commands)("rejects a wrong value of each input, and never repeats it: $words", async ({ words, doc }) => {
    for (const { name, args } of wrongLines(doc)) {
      const { code, stdout, stderr } = await run(args)
      if (ACCEPT_ANY_TEXT.has(name)) continue
      expect({ name, code, stdout }).toEqual({ name, code: 2, stdout: "" })
      expect(stderr).toMatch(/^[^\n\u202E]*[.?] See ops[ a-z-]* --help\.\n$/)
      expect(stderr).toContain(`${words} --help`)
      if (!NAME_THE_ENTRY.has(name)) expect(stderr).not.toMatch(/hunter2|1234567893/)
    }
  })

  it("leaves no file if it fails", () => {
    expect(readdirSync(folder)).toEqual([])
  })
})

it("breaks a long example where a shell accepts it, and never within quotes", () => {
  const command = `ops campaigns create --name "${"a b ".repeat(30)}" --subject 'x y' --window-start 2026-12-01T09:00:00Z`
  const { annotations } = commands[0]!.doc
  const help = formatHelp({ description: "", usage: "", flags: [], annotations, examples: [{ command }] })
  const [, example] = help.split("EXAMPLES\n")
  expect(example!.replaceAll(/ \\\n +/g, " ").trim()).toBe(command)
})
