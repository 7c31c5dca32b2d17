import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { RecipientId } from "@outreach/domain/Identifier"
import { Npi } from "@outreach/domain/recipients/Npi"
import { TOKEN_LENGTH } from "@outreach/domain/recipients/Recipient"
import { Effect, Schema } from "effect"
import { revealing } from "../Declaration.ts"
import { clinicianFlags, limit, organizationId } from "../inputs/filters.ts"
import { flag, optional, switchFlag } from "../inputs/Input.ts"
import { formatRows, print, printToStderr } from "../output/Output.ts"
import { refuse } from "../output/refuse.ts"

const Token = Schema.String.check(Schema.isPattern(new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`))).annotate({
  expected: `${TOKEN_LENGTH} letters and digits`,
})

const keys = {
  npi: optional(flag(Npi, "The clinician's NPI")),
  email: clinicianFlags.email,
  token: optional(flag(Token, "The token of a recipient")),
  id: optional(flag(RecipientId, "The id of a recipient, rcp_…")),
}

/** `ops recipients find` */
export const find = revealing({
  about: "Show what happened to one clinician, oldest first: records, messages, events, suppressions",
  examples: ["ops recipients find --npi 1234567893"],
  input: {
    ...keys,
    organizationId: optional(organizationId),
    reveal: switchFlag("Show NPIs and e-mail addresses in full"),
    limit,
  },
  *run({ organizationId, reveal, limit, ...given }) {
    const [key, ...others] = Object.entries(given) as ReadonlyArray<readonly [keyof typeof keys, string]>
    if (key === undefined || others.length > 0) {
      return yield* refuse("UnclearClinician", "Name the clinician in one way: with --npi, --email, --token or --id.")
    }
    const [by, value] = key
    // Loaded here, because the other commands of the group do not need the contract's schemas.
    const { canonicalEmail } = yield* Effect.promise(() => import("@outreach/domain/recipients/EmailAddress"))
    const clinician = { by, value: by === "email" ? (canonicalEmail(value) ?? value) : value }
    const { find } = yield* TimelineReader
    const found = yield* find({ ...clinician, ...(organizationId && { organizationId }) }, limit)
    const recipients = found.recipients.map(reveal ? (recipient) => recipient : maskPerson)
    const { entries, hasMore } = found
    yield* print({ recipients, entries, hasMore }, () =>
      [
        formatRows(recipients, ["id", "token", "npi", "email", "organizationId", "campaignId", "programId"]),
        formatRows(entries, ["at", "kind", "detail", "campaignId", "programId", "eventId"]),
      ].join("\n\n"),
    )
    if (hasMore) yield* printToStderr(`There is more than the newest ${limit}. See --limit.`)
  },
})

/** Masks all but the end of an NPI, and all but the first character and the domain of an e-mail address. */
const maskPerson = <Person extends { readonly npi: string; readonly email: string }>(person: Person): Person => ({
  ...person,
  npi: `******${person.npi.slice(-4)}`,
  email: `${person.email.slice(0, 1)}***${person.email.slice(person.email.lastIndexOf("@"))}`,
})
