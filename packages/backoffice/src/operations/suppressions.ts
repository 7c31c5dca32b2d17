import { DescribedError } from "@outreach/domain/DescribedError"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicians"
import {
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionScope,
  suppressionKeys,
} from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository, suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { Timestamp } from "@outreach/domain/Timestamp"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { createPrivateFile } from "../createPrivateFile.ts"
import { csvRow } from "../csv/csvTable.ts"
import { formatCounted } from "../format.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { SUPPRESSION_WORDS, SuppressionReader, suppressionFilters } from "../suppressions/SuppressionReader.ts"
import { clinician, findClinicians, UnclearScope } from "./clinicians.ts"
import { choice, type FilterOf, field, file, newFile, reason, required, type ValuesOf } from "./Field.ts"
import { id, inOps, list, masked, type Page, text, time } from "./List.ts"
import { operation } from "./Operation.ts"
import { columns } from "./recipients.ts"

export const suppressions = list("suppressions list", {
  about: "List suppressions, newest first, each with its program or organization",
  examples: [
    "ops suppressions list --organization org_… --reason bounced",
    "ops suppressions list --program pgm_… --scope program",
  ],
  isPersonal: true,
  filters: suppressionFilters,
  // A value is personal, so the position is a time and the number of an entry among those of that time.
  cursor: { createdAt: Timestamp, seen: wholeNumber(1, 1_000_000) },
  read: (filter, { limit, after }) => SuppressionReader.use(({ list }) => list(filter, { limit: limit + 1, after })),
  columns: {
    kind: { ...text("Kind"), shown: ({ kind }) => SUPPRESSION_WORDS[kind] },
    value: {
      ...masked("Value"),
      mask: ({ kind, value }) => (kind === "npi" ? maskNpi(value) : maskEmail(value)),
    },
    reason: { ...text("Reason"), shown: ({ reason }) => SUPPRESSION_WORDS[reason] },
    ...inOps("scope"),
    organizationId: id("Organization"),
    programId: { ...id("Program"), none: "the whole organization" },
    createdAt: time("Since"),
  },
  empty: "No suppressions.",
  filledBy: "suppressions create",
})

// Loaded when needed, because it loads the reader of files.
const imports = Effect.promise(() => import("../suppressions/importSuppressions.ts"))

class ForeignProgram extends DescribedError(
  "ForeignProgram",
  "The program {programId} is not one of the organization {organizationId}.",
) {}

/** The inputs for a scope: a program, or all programs of an organization. */
export const scope = {
  programId: field(ProgramId, "Program", { kind: "choice", all: "The whole organization" }),
  organizationId: field(OrganizationId, "Organization", {
    kind: "choice",
    hint: "Without a program: all its current and future programs",
  }),
}

/** Finds the program or organization of a scope. */
const findScope = Effect.fnUntraced(function* ({ programId, organizationId }: FilterOf<typeof scope>) {
  if (programId === undefined) {
    if (organizationId === undefined) return yield* new UnclearScope()
    const affects = yield* (yield* OrganizationReader).find(organizationId)
    return { scope: { organizationId } as SuppressionScope, organizationId, affects }
  }
  const program = yield* (yield* ProgramRepository).find(programId)
  if (organizationId !== undefined && organizationId !== program.organizationId) {
    return yield* new ForeignProgram({ programId, organizationId })
  }
  return { scope: { programId } as SuppressionScope, organizationId: program.organizationId, affects: program }
})

const inputs = { ...scope, ...clinician }

const findTarget = Effect.fnUntraced(function* ({ programId, ...given }: ValuesOf<typeof inputs>) {
  const { organizationId, clinicians } = yield* findClinicians(given)
  return { clinicians, ...(yield* findScope({ programId, organizationId })) }
})

export const createSuppression = operation("suppressions create", {
  role: "operator",
  about: "Suppress a clinician for a program or an organization; withdraws pending recipients",
  label: "Suppress",
  input: { ...inputs, reason },
  *run(given) {
    const { scope, clinicians } = yield* findTarget(given)
    return { ...scope, ...(yield* suppressClinicians(scope, clinicians, "operator")) }
  },
  done: ({ added, withdrawn }) =>
    `Suppressed: ${formatCounted(added, "new entry", "new entries")}, ${formatCounted(withdrawn, "pending recipient")} withdrawn.`,
  examples: ["ops suppressions create --program pgm_… --email someone@clinic.example"],
})

export const removeSuppression = operation("suppressions remove", {
  role: "operator",
  about:
    "Lift the suppression of a clinician for a program, including one for the whole organization, or only the latter",
  label: "Lift",
  isIrreversible: true,
  input: { ...inputs, reason: required(reason) },
  *plan(given) {
    const { scope, clinicians, affects } = yield* findTarget(given)
    const found = yield* (yield* SuppressionRepository).find(scope, clinicians.flatMap(suppressionKeys))
    return {
      title: "Lift the suppression",
      many: formatCounted(found.length, "entry", "entries"),
      count: found.length,
      affects,
      when: "Immediately. Withdrawn recipients stay withdrawn until they are imported again.",
      facts: { Reasons: found.map(({ kind, reason }) => `${kind}: ${reason}`).join(", ") },
      caution: found.length === 0 ? undefined : { because: "Campaigns can send to the clinician again." },
    }
  },
  *run(given) {
    const { scope, clinicians, organizationId } = yield* findTarget(given)
    const removed = yield* (yield* SuppressionRepository).remove(scope, clinicians.flatMap(suppressionKeys))
    const erasedIn = yield* (yield* ErasedClinicianRepository).organizationsOf(clinicians[0], organizationId)
    return { ...scope, removed, isErased: erasedIn.length > 0 }
  },
  done: ({ removed, isErased }) =>
    `Lifted: ${formatCounted(removed, "entry", "entries")}. ${
      isErased
        ? "The clinician was erased, and stays suppressed in all programs of the organization."
        : "Withdrawn recipients stay withdrawn until they are imported again."
    }`,
  examples: [
    'ops suppressions remove --program pgm_… --email someone@clinic.example --reason "mailbox restored, ticket 4711"',
  ],
})

export const importSuppressions = operation("suppressions import", {
  about:
    "Suppress everyone in a CSV file; a re-run adds nothing twice. Its columns are npi, email or both, and optionally reason and program, as `suppressions export` writes them",
  isLong: true,
  input: {
    ...scope,
    reason: choice("The reason for all lines", SUPPRESSION_REASONS, {
      hint: "By default the reason of each line, or operator",
    }),
    ...columns,
    file: required(
      file("A delimited text file whose first line names the columns npi, email or both", { isArgument: true }),
    ),
  },
  *run({ programId, organizationId, file, ...options }) {
    const { scope } = yield* findScope({ programId, organizationId })
    return { ...scope, ...(yield* (yield* imports).importSuppressions(scope, file, options)) }
  },
  examples: ["ops suppressions import --organization org_… bounces.csv --reason bounced"],
})

const PAGE_SIZE = 1000

export const exportSuppressions = operation("suppressions export", {
  access: "reveals",
  about: "Export suppressions to a new CSV file for `suppressions import`",
  input: { ...suppressionFilters, out: required(newFile) },
  *run({ out, ...filter }) {
    yield* findScope(filter)
    const file = yield* createPrivateFile(out)
    yield* file.append(csvRow(["npi", "email", "reason", "program", "since"]))
    let entries = 0
    let after: string | null = null
    do {
      const page: Page<Suppression> = yield* suppressions.read(filter, { limit: PAGE_SIZE, after })
      const rows = page.rows.map(({ kind, value, reason, programId, createdAt }) =>
        csvRow([...(kind === "npi" ? [value, null] : [null, value]), reason, programId, createdAt]),
      )
      yield* file.append(rows.join(""))
      entries += rows.length
      after = page.next
    } while (after !== null)
    yield* file.keep
    return { out, entries }
  },
  examples: ["ops suppressions export --organization org_… --reason bounced --out bounces.csv"],
})
