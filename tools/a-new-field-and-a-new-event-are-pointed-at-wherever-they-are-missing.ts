/**
 * Adds a field of the recipient, an event about one, or an option of an endpoint in a scratch copy. The compiler or a test must then name
 * every place to change.
 * `docs/recipes.md` lists these places; `--write` updates the lists.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs, stripVTControlCharacters } from "node:util"
import { copyRepository } from "./copyRepository.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const PAGE = "docs/recipes.md"
const PROJECT = "tsconfig.changed.json"
const [BEGIN, END] = ["<!-- places: written by the tool of this name -->", "<!-- end of places -->"]

interface Step {
  /** Lines to add: in a file, before a text. */
  readonly edits: ReadonlyArray<readonly [file: string, before: string, added: string]>
  /** Packages whose types are checked, and test files to run. */
  readonly packages: ReadonlyArray<string>
  readonly tests: ReadonlyArray<string>
  /** The places that must be reported: a file, and a text of its error or failed test. */
  readonly places: ReadonlyArray<readonly [place: string, file: string, text: string]>
}

const FIELD = "specialty"
const EVENT = "outreach.email_forwarded"
const OPTION = "compressed"
const CHANGES: Readonly<Record<string, ReadonlyArray<Step>>> = {
  "A required text field of the recipient": [
    {
      edits: [
        ["packages/domain/src/recipients/Recipient.ts", "  createdAt: Timestamp,", `  ${FIELD}: Schema.String,`],
        ["packages/contract/src/tokens.ts", "    created_at: Timestamp,", `    ${FIELD}: z.string(),`],
      ],
      packages: ["packages/domain"],
      tests: [
        "packages/contract/test/openapi.test.ts",
        "packages/contract/test/types.test.ts",
        "packages/postgres/test/rowsOf.test.ts",
      ],
      places: [
        ["the import of recipients", "packages/domain/src/campaigns/RecipientImport.ts", FIELD],
        ["`openapi.json`", "packages/contract/test/openapi.test.ts", FIELD],
        ["`types.d.ts`", "packages/contract/test/types.test.ts", FIELD],
        ["the table", "packages/postgres/test/rowsOf.test.ts", FIELD],
      ],
    },
    {
      edits: [
        [
          "packages/contract/types.d.ts",
          "  /** UTC date-time with microseconds. */\n  created_at: string\n",
          `  ${FIELD}: string`,
        ],
      ],
      packages: ["packages/contract", "apps/api"],
      tests: [],
      places: [
        ["examples", "packages/contract/src/examples.ts", FIELD],
        ["the JSON of the API", "apps/api/test/handlers/recipientRecord.test.ts", FIELD],
      ],
    },
    {
      edits: [
        ["packages/postgres/sql/migrations/0001_baseline.sql", "  email text not null,", `  ${FIELD} text not null,`],
      ],
      packages: [],
      tests: [
        "packages/postgres/test/dumpSchema.test.ts",
        "packages/postgres/test/erasure/columnsOfClinicians.test.ts",
        "packages/postgres/test/recipients/RecipientRepositoryPg.test.ts",
      ],
      places: [
        ["`schema.sql`", "packages/postgres/test/dumpSchema.test.ts", FIELD],
        ["its erasure", "packages/postgres/test/erasure/columnsOfClinicians.test.ts", `recipients.${FIELD}`],
        [
          "recipients of tests",
          "packages/postgres/test/recipients/RecipientRepositoryPg.test.ts",
          "RecipientRepository.add",
        ],
      ],
    },
  ],
  "An event about a recipient": [
    {
      edits: [
        [
          "packages/contract/src/names.ts",
          '  "clinician.account_created": {',
          `  "${EVENT}": { direction: "to_consumer", recipients: "one", isInFeed: false },`,
        ],
      ],
      packages: ["packages/contract", "packages/domain", "packages/postgres", "packages/backoffice", "apps/api"],
      tests: [],
      places: [
        ["its data, and the webhook", "packages/contract/src/events.ts", EVENT],
        ["its stamp, timeline, digest, hits and erasure", "packages/domain/src/events/outgoingEvents.ts", EVENT],
      ],
    },
    {
      edits: [
        [
          "packages/domain/src/events/outgoingEvents.ts",
          '  "outreach.email_opened": {',
          `  "${EVENT}": { name: "forwarded", isInDigest: true, isHit: false, stamp: null, isIndexed: true },`,
        ],
        [
          "packages/contract/src/events.ts",
          '  "clinician.account_created": {',
          `  "${EVENT}": { description: "Forwarded", data: z.looseObject(outcome) },`,
        ],
      ],
      packages: ["packages/backoffice"],
      tests: [
        "packages/postgres/test/events/recipientEvents.test.ts",
        "packages/postgres/test/digest/digestCounts.test.ts",
      ],
      places: [
        ["the kinds of timelines", "packages/backoffice/src/recipients/TimelineReader.ts", "forwarded"],
        ["the index for erasures", "packages/postgres/test/events/recipientEvents.test.ts", EVENT],
        ["the columns of the digest", "packages/postgres/test/digest/digestCounts.test.ts", "forwarded"],
      ],
    },
  ],
  "An option of an endpoint": [
    {
      edits: [
        [
          "packages/domain/src/deliveries/Endpoint.ts",
          "  /** Whether to also send the Standard Webhooks headers. */",
          `  ${OPTION}: Schema.Boolean,`,
        ],
      ],
      packages: ["packages/backoffice", "apps/worker"],
      tests: ["packages/postgres/test/rowsOf.test.ts"],
      places: [
        ["its conversion", "packages/backoffice/src/operations/endpoints.ts", OPTION],
        ["the table", "packages/postgres/test/rowsOf.test.ts", OPTION],
        ["endpoints of tests", "apps/worker/test/deliveries/ownedEndpoint.ts", OPTION],
      ],
    },
    {
      edits: [
        [
          "packages/backoffice/src/operations/endpoints.ts",
          "  standardWebhooks: yesOrNo(",
          `  ${OPTION}: yesOrNo("Compressed", "yes", "no"),`,
        ],
        [
          "packages/postgres/sql/migrations/0001_baseline.sql",
          "  standard_webhooks boolean not null default false,",
          `  ${OPTION} boolean not null default false,`,
        ],
      ],
      packages: ["packages/backoffice"],
      tests: [
        "packages/postgres/test/dumpSchema.test.ts",
        "apps/ops/test/reference.test.ts",
        "packages/backoffice/test/operations/endpoints.test.ts",
      ],
      places: [
        ["its form", "packages/backoffice/src/operations/endpoints.ts", OPTION],
        ["`schema.sql`", "packages/postgres/test/dumpSchema.test.ts", OPTION],
        ["the reference of `ops`", "apps/ops/test/reference.test.ts", OPTION],
        ["its test", "packages/backoffice/test/operations/endpoints.test.ts", OPTION],
      ],
    },
  ],
}

const run = (folder: string, command: string, args: ReadonlyArray<string>): string => {
  const { stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 28 })
  return stripVTControlCharacters(`${stdout}\n${stderr}`)
}

/** Returns each error of the compiler as one text, and each error of tests after the names of all tests that failed with it. */
const complaints = (folder: string, { packages, tests }: Step): ReadonlyArray<string> => {
  const include = packages.flatMap((project) => [`${project}/src`, `${project}/test`])
  writeFileSync(join(folder, PROJECT), JSON.stringify({ extends: "./tsconfig.json", include }))
  const errors =
    packages.length === 0
      ? []
      : run(folder, "node_modules/.bin/tsc", ["--pretty", "false", "-p", PROJECT]).split(/\n(?=\S)/)
  if (tests.length === 0) return errors
  const told = run(folder, "node", ["node_modules/vitest/vitest.mjs", "run", ...tests])
  return [...errors, ...told.slice(told.indexOf(" FAIL ")).split(/^⎯+\[\d+\/\d+\]⎯$/m)]
}

const folder = mkdtempSync(join(tmpdir(), "outreach-change-"))
const violations: Array<string> = []
const lists: Array<string> = []
try {
  copyRepository(folder)
  for (const [name, steps] of Object.entries(CHANGES)) {
    lists.push(`${name}:`, "")
    const originals = new Map<string, string>()
    for (const step of steps) {
      for (const [file, before, added] of step.edits) {
        const path = join(folder, file)
        const text = readFileSync(path, "utf8")
        if (!text.includes(before))
          throw new Error(`${file} has no ${JSON.stringify(before)} before which a line is added`)
        if (!originals.has(path)) originals.set(path, text)
        writeFileSync(path, text.replace(before, `${added}\n${before}`))
      }
      const said = complaints(folder, step)
      for (const [place, file, text] of step.places) {
        const isNamed = said.some((each) => each.includes(file) && each.includes(text))
        if (!isNamed) violations.push(`nothing points at ${place}. ${name}: ${file} does not say ${text}`)
        lists.push(`- ${place}: \`${file}\``)
      }
    }
    lists.push("")
    for (const [path, text] of originals) writeFileSync(path, text)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const page = readFileSync(join(root, PAGE), "utf8")
const [head, rest] = page.split(BEGIN)
const tail = rest?.split(END)[1]
if (head === undefined || tail === undefined) throw new Error(`${PAGE} has no ${BEGIN} and ${END}`)
const written = `${head}${BEGIN}\n\n${lists.join("\n")}${END}${tail}`
if (parseArgs({ options: { write: { type: "boolean" } } }).values.write) writeFileSync(join(root, PAGE), written)
else if (page !== written) violations.push(`${PAGE} lists other places: run this tool with --write`)
report(violations, `${Object.values(CHANGES).flatMap((steps) => steps.flatMap(({ places }) => places)).length} places`)
