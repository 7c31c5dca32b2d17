import { createHmac, randomBytes } from "node:crypto"
import { OrganizationId } from "@outreach/domain/Identifier"
import type { Clinician } from "@outreach/domain/recipients/Clinician"
import {
  ErasedClinicianRepository,
  type ErasedClinicians,
  isErased,
} from "@outreach/domain/suppressions/ErasedClinicians"
import { type SuppressionKey, suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { Effect, Redacted, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { SecretCipher } from "../deliveries/SecretCipher.ts"
import { decodeColumn, equal, first } from "../rowsOf.ts"

const decodeKeys = decodeColumn({ ciphertext: Schema.Uint8Array })
const decodeOwners = decodeColumn({ id: OrganizationId })
const decodeHashes = decodeColumn({ hash: Schema.String })

/**
 * Stores keyed hashes of erased clinicians in PostgreSQL.
 *
 * Each organization has a random key, because all NPIs could be enumerated quickly without one.
 */
export const ErasedClinicianRepositoryPg = adapter(ErasedClinicianRepository, function* (sql) {
  const cipher = yield* SecretCipher

  // An organization without erasures has no row. A whole batch costs one primary key look-up.
  const readKey = Effect.fnUntraced(function* (organizationId: OrganizationId) {
    const key = yield* sql`select ciphertext from erasure_keys where organization_id = ${organizationId}`.pipe(
      decodeKeys,
      first,
    )
    return key && cipher.decrypt(key, organizationId)
  })

  const find = Effect.fnUntraced(function* (organizationId: OrganizationId, clinicians: ReadonlyArray<Clinician>) {
    if (clinicians.length === 0) return NONE
    const key = yield* readKey(organizationId)
    if (key === undefined) return NONE
    const hashed = clinicians.flatMap(suppressionKeys).map((identity) => ({ ...identity, hash: hashOf(key, identity) }))
    const found = yield* sql`
          select encode(hash, 'hex') as hash from erased_clinicians
          where organization_id = ${organizationId}
            and hash = any (array(select decode(given, 'hex') from unnest(${hashed.map(({ hash }) => hash)}::text[]) as given))`.pipe(
      decodeHashes,
    )
    const known = new Set(found)
    const erased = hashed.filter(({ hash }) => known.has(hash))
    return {
      npis: new Map(
        erased.flatMap(({ kind, value, hash }) => (kind === "npi" ? [[value, `erased ${hash}`] as const] : [])),
      ),
      emails: new Set(erased.flatMap(({ kind, value }) => (kind === "email" ? [value.toLowerCase()] : []))),
    }
  })

  return {
    find,

    organizationsOf: Effect.fnUntraced(function* (clinician, organizationId) {
      const owners = yield* sql`
          select organization_id as id from erasure_keys where ${equal({ organization_id: organizationId })} order by 1`.pipe(
        decodeOwners,
      )
      return yield* Effect.filter(owners, (id) =>
        Effect.map(find(id, [clinician]), (erased) => isErased(erased, clinician)),
      )
    }),

    add: Effect.fnUntraced(function* (organizationId, clinicians) {
      const text = Redacted.make(randomBytes(32).toString("base64url"))
      yield* sql`
          insert into erasure_keys (organization_id, ciphertext) values (${organizationId}, ${cipher.encrypt(text, organizationId)})
          on conflict do nothing`
      if (clinicians.length === 0) return
      const key = yield* readKey(organizationId)
      const hashes = clinicians.flatMap(suppressionKeys).map((identity) => hashOf(key!, identity))
      yield* sql`
          insert into erased_clinicians (organization_id, hash)
          select distinct ${organizationId}, decode(given, 'hex') from unnest(${hashes}::text[]) as given
          on conflict do nothing`
    }),

    hash: Effect.fnUntraced(function* (organizationId, clinicians) {
      const key = yield* readKey(organizationId)
      return key === undefined ? [] : clinicians.flatMap(suppressionKeys).map((identity) => hashOf(key, identity))
    }),
  }
})

const NONE: ErasedClinicians = { npis: new Map(), emails: new Set() }

const hashOf = (key: Redacted.Redacted, { kind, value }: SuppressionKey): string =>
  createHmac("sha256", Redacted.value(key)).update(`${kind} ${value.toLowerCase()}`).digest("hex")
