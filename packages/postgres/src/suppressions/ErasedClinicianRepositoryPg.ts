import { createHmac, randomBytes } from "node:crypto"
import type { OrganizationId } from "@outreach/domain/Identifier"
import type { Clinician } from "@outreach/domain/suppressions/Clinician"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicianRepository"
import type { ErasedClinicians } from "@outreach/domain/suppressions/ErasedClinicians"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { SecretCipher } from "../deliveries/SecretCipher.ts"

/**
 * Keeps keyed hashes of erased clinicians in PostgreSQL.
 *
 * The key is the organization's own and random, so that hashes tell nobody an NPI: all NPIs are soon tried without a key.
 */
export const ErasedClinicianRepositoryPg = Layer.effect(
  ErasedClinicianRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const cipher = yield* SecretCipher

    // An organization that erased nobody has no row: one look-up of a primary key for a whole batch.
    const readKey = Effect.fnUntraced(function* (organizationId: OrganizationId) {
      const rows = yield* sql<{ ciphertext: Uint8Array }>`
        select ciphertext from erasure_keys where organization_id = ${organizationId}`
      return rows[0] && cipher.decrypt(rows[0].ciphertext, organizationId)
    })

    return {
      find: Effect.fnUntraced(function* (organizationId, clinicians) {
        if (clinicians.length === 0) return NONE
        const key = yield* readKey(organizationId)
        if (key === undefined) return NONE
        const hashed = clinicians
          .flatMap(identitiesOf)
          .map((identity) => ({ ...identity, hash: hashOf(key, identity) }))
        const rows = yield* sql<{ hash: string }>`
          select encode(hash, 'hex') as hash from erased_clinicians
          where organization_id = ${organizationId}
            and hash = any (array(select decode(given, 'hex') from unnest(${hashed.map(({ hash }) => hash)}::text[]) as given))`
        const found = new Set(rows.map(({ hash }) => hash))
        const erased = hashed.filter(({ hash }) => found.has(hash))
        return {
          npis: new Map(
            erased.flatMap(({ kind, value, hash }) => (kind === "npi" ? [[value, pseudonymOf(hash)] as const] : [])),
          ),
          emails: new Set(erased.flatMap(({ kind, value }) => (kind === "email" ? [value] : []))),
        }
      }, orDieAs("ErasedClinicianRepository.find")),

      add: Effect.fnUntraced(function* (organizationId, clinicians) {
        const text = Redacted.make(randomBytes(32).toString("base64url"))
        yield* sql`
          insert into erasure_keys (organization_id, ciphertext) values (${organizationId}, ${cipher.encrypt(text, organizationId)})
          on conflict do nothing`
        if (clinicians.length === 0) return
        const key = yield* readKey(organizationId)
        const hashes = clinicians.flatMap(identitiesOf).map((identity) => hashOf(key!, identity))
        yield* sql`
          insert into erased_clinicians (organization_id, hash)
          select distinct ${organizationId}, decode(given, 'hex') from unnest(${hashes}::text[]) as given
          on conflict do nothing`
      }, orDieAs("ErasedClinicianRepository.add")),

      hash: Effect.fnUntraced(function* (organizationId, clinicians) {
        const key = yield* readKey(organizationId)
        return key === undefined ? [] : clinicians.flatMap(identitiesOf).map((identity) => hashOf(key, identity))
      }, orDieAs("ErasedClinicianRepository.hash")),
    }
  }),
)

const NONE: ErasedClinicians = { npis: new Map(), emails: new Set() }

interface Identity {
  readonly kind: "npi" | "email"
  readonly value: string
}

const identitiesOf = ({ npi, email }: Clinician): ReadonlyArray<Identity> => [
  ...(npi === null ? [] : [{ kind: "npi" as const, value: npi }]),
  ...(email === null ? [] : [{ kind: "email" as const, value: email.toLowerCase() }]),
]

const hashOf = (key: Redacted.Redacted, { kind, value }: Identity): string =>
  createHmac("sha256", Redacted.value(key)).update(`${kind} ${value}`).digest("hex")

/** What stands for an erased NPI among the qualifications, which are counted once for each. */
const pseudonymOf = (hash: string): string => `erased ${hash}`
