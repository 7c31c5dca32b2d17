import { execFile } from "node:child_process"
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { findProgram } from "@outreach/debian-packages/findProgram"
import type { ProgramName } from "@outreach/debian-packages/programs"
import { sign, verify } from "@outreach/signature"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { environmentOf, type Tool } from "./environmentOf.ts"
import type { SignatureCase, SignatureVectors } from "./SignatureVectors.ts"
import { samplesOf } from "./samplesOf.ts"

interface Language {
  readonly language: string
  /** Name of the sample file, and the program next to this proof that calls it for each input line. */
  readonly sample: string
  readonly runner: string
  readonly name: ProgramName
  /** Commands to run in the folder of both files; the last one reads the cases. */
  readonly commands: (tool: Tool) => ReadonlyArray<readonly [program: string, ...ReadonlyArray<string>]>
}

const LANGUAGES: ReadonlyArray<Language> = [
  {
    language: "Python",
    sample: "verify_signature.py",
    runner: "run.py",
    name: "python",
    commands: ({ program }) => [[program, "run.py"]],
  },
  {
    language: "PHP",
    sample: "verify_signature.php",
    runner: "run.php",
    name: "php",
    commands: ({ program }) => [[program, "-n", "-d", "error_reporting=-1", "-d", "display_errors=stderr", "run.php"]],
  },
  {
    language: "Ruby",
    sample: "verify_signature.rb",
    runner: "run.rb",
    name: "ruby",
    commands: ({ program }) => [[program, "--disable-gems", "-w", "run.rb"]],
  },
  {
    language: "Go",
    sample: "webhooks/verify_signature.go",
    runner: "run.go",
    name: "go",
    commands: ({ program }) => [
      [program, "mod", "init", "languages"],
      ["sh", "-c", '"$0" -d webhooks | diff /dev/null - >&2', join(dirname(program), "gofmt")],
      [program, "vet", "./..."],
      [program, "build", "-o", "run", "."],
      ["./run"],
    ],
  },
  {
    language: "Java",
    sample: "WebhookSignature.java",
    runner: "Run.java",
    name: "java",
    commands: ({ program }) => [
      [program, "-Xlint:all", "-Werror", "-d", ".", "WebhookSignature.java", "Run.java"],
      [join(dirname(program), "java"), "-cp", ".", "Run"],
    ],
  },
  {
    language: "C#, by Mono since Debian has no .NET,",
    sample: "WebhookSignature.cs",
    runner: "Run.cs",
    name: "mono",
    commands: ({ folder: root, program }) => [
      [
        program,
        join(root, "usr/lib/mono/4.5/mcs.exe"),
        "-warnaserror",
        "-out:run.exe",
        "WebhookSignature.cs",
        "Run.cs",
      ],
      [program, "run.exe"],
    ],
  },
]

const base64 = (text: string) => Buffer.from(text).toString("base64")

/** Formats a case as a line that can be read without a JSON parser. */
const lineOf = ({ headers, body_base64, secrets, now }: SignatureCase) => {
  const header = headers["X-Signature"]
  return [
    header === undefined ? "-" : base64(header),
    body_base64,
    secrets.length === 0 ? "-" : secrets.map(base64).join(","),
    now,
  ].join("\t")
}

/** Runs a language's commands in a folder, the last one with the cases as input. Returns its output lines. */
const run = async (language: Language, tool: Tool, folder: string, cases: ReadonlyArray<SignatureCase>) => {
  const env = environmentOf(language.name, tool, folder)
  const commands = language.commands(tool)
  let output = ""
  for (const [i, [program, ...args]] of commands.entries()) {
    const running = promisify(execFile)(program, args, { cwd: folder, env, maxBuffer: 2 ** 26 })
    // A program that fails before reading is detected by its exit code.
    running.child.stdin!.on("error", () => {})
    running.child.stdin!.end(i === commands.length - 1 ? cases.map((one) => `${lineOf(one)}\n`).join("") : "")
    output = (await running).stdout
  }
  return output.trimEnd().split("\n")
}

const NOW = 1_780_000_000
const SECRETS = [
  "whsec_4283fefc63f0cd0e873a0000c6d07ef7b77e90d3593ad699",
  "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r",
]
const BODY = '{"name":"Zoë"}'

/** Signed headers with small changes, and the package's result for each. */
const changedHeaders = async (count: number): Promise<ReadonlyArray<SignatureCase>> => {
  const [first, second] = [
    await sign(BODY, SECRETS, { timestamp: NOW }),
    await sign(BODY, [SECRETS[0]!], { timestamp: NOW }),
  ]
  const edit = fc.record({
    at: fc.nat(200),
    drop: fc.nat(2),
    put: fc.constantFrom("", ..."0123456789abcdefAF,=tv1 +-.\t;é٣", ", ", ",x=1", "t=", ",v1=", "v1"),
  })
  const changed = fc
    .tuple(fc.constantFrom(first, second, `${second},v0=x`), fc.array(edit, { maxLength: 2 }))
    .map(([header, edits]) =>
      edits.reduce((text, { at, drop, put }) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + put + text.slice(place + drop)
      }, header),
    )
  const given = fc.record({ header: changed, now: fc.integer({ min: NOW - 301, max: NOW + 301 }) })
  return Promise.all(
    fc.sample(given, count).map(async ({ header, now }) => {
      const verifying = verify(header, BODY, [SECRETS[0]!], { now })
      return {
        name: `the header ${JSON.stringify(header)} at ${now}`,
        headers: { "X-Signature": header },
        body_base64: base64(BODY),
        secrets: [SECRETS[0]!],
        now,
        expected: await verifying.then(
          () => "accepted" as const,
          () => "refused" as const,
        ),
      }
    }),
  )
}

const tools = LANGUAGES.map((language) => ({ ...language, tool: findProgram(language.name) }))

const api = startApi()

/** Returns the page's code, and the served cases. */
const served = async (sample: string) => {
  const page = samplesOf(await (await fetch(`${api().url}/docs/webhooks`)).text())
  const { cases } = (await (await fetch(`${api().url}/docs/signature-vectors.json`)).json()) as SignatureVectors
  return { code: page.get(basename(sample))!, cases }
}

describe.each(tools)("the check of a signature in $language", (language) => {
  const { tool, sample, runner } = language

  it.skipIf("missing" in tool)(
    "agrees with every vector, and with the package about headers of other forms",
    async () => {
      if ("missing" in tool) return
      const folder = temporaryFolder("language")
      const { code, cases } = await served(sample)
      mkdirSync(dirname(join(folder, sample)), { recursive: true })
      writeFileSync(join(folder, sample), code)
      copyFileSync(fileURLToPath(new URL(`languages/${runner}`, import.meta.url)), join(folder, runner))

      const all = [...cases, ...(await changedHeaders(2000))]
      const answers = await run(language, tool, folder, all)
      const differing = all.filter(({ expected }, i) => expected !== answers[i]).map(({ name }) => name)
      expect({ differing, answers: answers.length }).toEqual({ differing: [], answers: all.length })
      expect(new Set(answers)).toEqual(new Set(["accepted", "refused"]))
    },
  )
})
