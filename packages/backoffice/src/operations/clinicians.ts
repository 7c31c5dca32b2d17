import { DescribedError } from "@outreach/domain/DescribedError"
import { ErasureRepository } from "@outreach/domain/erasure/Erasure"
import type { ErasureOutcome } from "@outreach/domain/erasure/Erasures"
import { labelOf, PERSONAL_TABLES, type PersonalDataCounts } from "@outreach/domain/erasure/PersonalData"
import { ErasureId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { type Clinician, EmailAddress, maskNpi, Npi } from "@outreach/domain/recipients/Clinician"
import { RELEASE } from "@outreach/process/release"
import { type Array as Arr, Console, Effect, Record, String as Str } from "effect"
import { createPrivateFile } from "../createPrivateFile.ts"
import { certificateOf } from "../erasure/certificateOf.ts"
import { PersonalDataReader } from "../erasure/PersonalDataReader.ts"
import { formatCounted } from "../format.ts"
import { RunningCommand } from "../operators/audited.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { TimelineReader } from "../recipients/TimelineReader.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { field, file, type ValuesOf } from "./Field.ts"
import { factText, operation } from "./Operation.ts"

// Loaded when a command runs, because it loads the contract.
const useCases = Effect.promise(() => import("@outreach/domain/erasure/Erasures"))

class InvalidClinician extends DescribedError(
  "InvalidClinician",
  "Enter an NPI, an e-mail address or both, or only a recipient's id.",
) {}

class RecipientNotFound extends DescribedError("RecipientNotFound", "No recipient {id}.") {}

export class UnclearScope extends DescribedError(
  "UnclearScope",
  "Choose a program or an organization. A recipient's id determines its organization.",
) {}

/** The inputs that name a clinician. */
export const clinician = {
  npi: field(Npi, "NPI", { inputmode: "numeric", maxLength: 10, size: 12 }),
  email: field(EmailAddress, "E-mail address", { inputmode: "email", maxLength: 320, size: 30 }),
  id: field(RecipientId, "Recipient", { hint: "A recipient's id, instead of an NPI and an address" }),
}

const inputs = {
  organizationId: field(OrganizationId, "Organization", { kind: "choice", hint: "Optional with a recipient's id" }),
  ...clinician,
}

/** Finds the clinician of the inputs. A recipient's id names its NPI, followed by all addresses of that NPI in the organization. */
export const findClinicians = Effect.fnUntraced(function* (given: ValuesOf<typeof inputs>) {
  const { npi = null, email = null, id, organizationId } = given
  if ((id === undefined) === (npi === null && email === null)) return yield* new InvalidClinician()
  const named = (clinicians: Arr.NonEmptyReadonlyArray<Clinician>, organizationId: OrganizationId | undefined) => ({
    organizationId,
    clinicians,
  })
  if (id === undefined) return named([{ npi, email }], organizationId)
  const recipients = yield* (yield* TimelineReader).findPeople({
    by: "id",
    value: id,
    ...(organizationId && { organizationId }),
  })
  const recipient = recipients.find((each) => each.id === id)
  if (recipient === undefined) return yield* new RecipientNotFound({ id })
  const addresses = [...new Set(recipients.map(({ email }) => email))].map((email) => ({ npi: null, email }))
  return named([{ npi: recipient.npi, email: null }, ...addresses], recipient.organizationId)
})

const findOne = Effect.fnUntraced(function* (given: ValuesOf<typeof inputs>) {
  const { organizationId, clinicians } = yield* findClinicians(given)
  return organizationId === undefined ? yield* new UnclearScope() : ([organizationId, clinicians[0]] as const)
})

/** Reads all data on a clinician as JSON, and counts its rows. */
export const readPersonalData = Effect.fnUntraced(function* (given: ValuesOf<typeof inputs>) {
  const [organizationId, clinician] = yield* findOne(given)
  yield* (yield* useCases).assertNoUnfinishedErasure(organizationId, clinician)
  const data = yield* (yield* PersonalDataReader).read(organizationId, clinician)
  const { organization_id, exported_at, clinician: named, ...tables } = data
  const rows = Object.values(tables).reduce((count, { length }) => count + length, 0)
  return { organizationId, json: JSON.stringify(data, null, 2), rows }
})

export const exportClinician = operation("clinicians export", {
  role: "admin",
  access: "reveals",
  about: "Export all data on a clinician as one JSON value, without data on other people",
  label: "Export everything as JSON",
  input: {
    ...inputs,
    out: file("Write to this new file (readable only by its owner) instead of standard output"),
  },
  *run({ out, ...given }) {
    // Created before the data is read, so that a wrong path fails early.
    const file = out === undefined ? undefined : yield* createPrivateFile(out)
    const { organizationId, json, rows } = yield* readPersonalData(given)
    if (file === undefined) {
      yield* Console.log(json)
      return yield* rows === 0 ? (yield* TaskProgress).say("Nothing is held on the clinician.") : Effect.void
    }
    yield* file.append(`${json}\n`)
    yield* file.keep
    return { organizationId, file: out, rows }
  },
  examples: ["ops clinicians export --organization org_… --npi 1234567893 --out dana.json"],
})

const OUTCOMES: Readonly<Record<ErasureOutcome, string>> = {
  erased: "Erased",
  resumed: "Finished the interrupted erasure",
  repeated: "Erased before, and there was no further data",
}

/** Counts the rows to erase, and finds an earlier or interrupted erasure. */
const planErasure = Effect.fnUntraced(function* (given: ValuesOf<typeof inputs>) {
  const [organizationId, clinician] = yield* findOne(given)
  return { organizationId, clinician, ...(yield* (yield* useCases).planErasure(organizationId, clinician)) }
})

const sumOf = (counts: PersonalDataCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

const formatCounts = (counts: PersonalDataCounts): string =>
  PERSONAL_TABLES.flatMap((table) => (counts[table] ? [`${labelOf(table)}: ${counts[table]}`] : [])).join(", ") ||
  "none"

export const eraseClinician = operation("clinicians erase", {
  about: "Erase a clinician permanently; a keyed hash keeps suppressing them. Prints the certificate",
  label: "Erase permanently",
  link: "Erase",
  isIrreversible: true,
  hasDryRun: true,
  input: inputs,
  *plan(given) {
    const { organizationId, clinician, counts, earlier, unfinished } = yield* planErasure(given)
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const { id } = given
    const npi = clinician.npi ?? ""
    return {
      title: "Erase the clinician",
      many: formatCounted(sumOf(counts), "row"),
      count: sumOf(counts),
      affects: id === undefined ? organization : { id, name: `NPI ${maskNpi(npi)}` },
      when: "Immediately. A keyed hash still suppresses them. The partner sees the erasure in its feed.",
      facts: {
        Organization: organization,
        Data: formatCounts(counts),
        ...(earlier && { "Erased before": { at: earlier.finishedAt } }),
      },
      caution: {
        word: npi.slice(-4) || "erase",
        because:
          unfinished === undefined ? "This can't be undone." : "An earlier erasure was interrupted. This completes it.",
      },
    }
  },
  *run(given, operator) {
    const by = { operator, command: yield* RunningCommand, release: RELEASE }
    const { outcome, certificate } = yield* (yield* useCases).eraseClinician(...(yield* findOne(given)), by)
    return { outcome, ...certificate }
  },
  show: (result) => [{ fields: { ...result, counts: formatCounts(result.counts) } }],
  done: ({ outcome, counts, erasureId }) =>
    `${OUTCOMES[outcome]}: ${formatCounted(sumOf(counts), "row")}. The certificate is ${erasureId}. It lists the data that remains, such as backups and the mail server's log, and contains no personal data.`,
  examples: ["ops clinicians erase --organization org_… --npi 1234567893 --dry-run"],
})

/** Reads a certificate with the name of its organization. */
export const readCertificate = Effect.fnUntraced(function* (erasureId: ErasureId) {
  const certificate = yield* (yield* ErasureRepository).find(erasureId)
  return { certificate, organization: yield* (yield* OrganizationReader).find(certificate.organizationId) }
})

export const showCertificate = operation("erasures show", {
  access: "reads",
  about: "Show the certificate of an erasure: who, when, the erased data, and the data that remains and why",
  of: { erasureId: ErasureId },
  *run({ erasureId }) {
    const { certificate, organization } = yield* readCertificate(erasureId)
    return { ...certificate, ...certificateOf(certificate, organization) }
  },
  show: ({ facts, tables }) => [
    { fields: Record.mapEntries(facts, (fact, name) => [Str.uncapitalize(name), factText(fact)]) },
    ...tables.map((table) => ({ table })),
  ],
})
