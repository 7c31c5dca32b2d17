import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { RecipientId } from "@outreach/domain/Identifier"
import { Npi } from "@outreach/domain/recipients/Npi"
import { TOKEN_LENGTH } from "@outreach/domain/recipients/Recipient"
import { Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { revealing } from "../audit/Access.ts"
import { limit, organization } from "../inputs/commonFlags.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { formatRows, print, printToStderr } from "../output/Output.ts"

/** The command line names a clinician in no way, or in several. */
class UnclearClinician extends Schema.TaggedError<UnclearClinician>()("UnclearClinician", {}) {
  override get message(): string {
    return "Name the clinician in one way: with --npi, --email, --token or --id."
  }
}

const Token = Schema.String.check(Schema.isPattern(new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`))).annotate({
  expected: `${TOKEN_LENGTH} letters and digits`,
})

/** `ops recipients find` */
export const find = revealing(
  "find",
  {
    npi: parsedFlag("npi", Npi, "The clinician's NPI").pipe(Flag.optional),
    email: Flag.String("email").pipe(
      Flag.withDescription("The clinician's e-mail address; its case does not matter"),
      Flag.optional,
    ),
    token: parsedFlag("token", Token, "The token of a recipient").pipe(Flag.optional),
    id: parsedFlag("id", RecipientId, "The id of a recipient, rcp_…").pipe(Flag.optional),
    organization: organization.pipe(Flag.optional),
    reveal: switchFlag("reveal", "Show NPIs and e-mail addresses in full"),
    limit,
  },
  Effect.fn("ops.recipients.find")(function* ({ npi, email, token, id, organization, reveal, limit }) {
    const named = Object.entries(pickDefined({ npi, email, token, id })) as ReadonlyArray<
      readonly ["npi" | "email" | "token" | "id", string]
    >
    const [key] = named
    if (key === undefined || named.length > 1) return yield* new UnclearClinician()
    const [by, given] = key
    // Loaded here, because the other commands of the group do not need the contract's schemas.
    const { canonicalEmail } = yield* Effect.promise(() => import("@outreach/domain/recipients/EmailAddress"))
    const value = by === "email" ? (canonicalEmail(given) ?? given) : given
    const reader = yield* TimelineReader
    const found = yield* reader.find({ by, value, ...pickDefined({ organizationId: organization }) }, limit)
    const recipients = found.recipients.map(reveal ? (recipient) => recipient : maskPerson)
    const { entries, hasMore } = found
    yield* print({ recipients, entries, hasMore }, () =>
      [
        formatRows(recipients, ["id", "token", "npi", "email", "organizationId", "campaignId", "programId"]),
        formatRows(entries, ["at", "kind", "detail", "campaignId", "programId", "eventId"]),
      ].join("\n\n"),
    )
    if (hasMore) yield* printToStderr(`There is more than the newest ${limit}. See --limit.`)
  }),
).pipe(
  Command.withDescription("Show what happened to one clinician, oldest first: records, messages, events, suppressions"),
  Command.withExamples([{ command: "ops recipients find --npi 1234567893" }]),
)

/** Masks all but the end of an NPI, and all but the first character and the domain of an e-mail address. */
const maskPerson = <Person extends { readonly npi: string; readonly email: string }>(person: Person): Person => ({
  ...person,
  npi: `******${person.npi.slice(-4)}`,
  email: `${person.email.slice(0, 1)}***${person.email.slice(person.email.lastIndexOf("@"))}`,
})
