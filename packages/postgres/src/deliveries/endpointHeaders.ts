import type { CustomHeaders } from "@outreach/domain/deliveries/CustomHeaders"
import { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Redacted, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { rowsOf } from "../rowsOf.ts"
import type { SecretCipher } from "./SecretCipher.ts"

const sealed = rowsOf(
  Schema.Struct({
    endpointId: EndpointId,
    organizationId: OrganizationId,
    version: Schema.Int,
    ciphertext: Schema.Uint8Array,
  }),
  { organizationId: "endpoint.organization_id" },
)
const parse = Schema.decodeSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** Reads the additional headers of those endpoints that have some. `open` throws if no key decrypts them. */
export const readHeaders = (
  sql: SqlClient.SqlClient,
  { decrypt }: SecretCipher["Service"],
  endpoints: ReadonlyArray<EndpointId>,
) =>
  sql`
    select ${sealed.columns} from endpoint_headers join webhook_endpoints endpoint on id = endpoint_id
    where endpoint_id = any (${endpoints}::text[])`.pipe(
    sealed.decode,
    Effect.map((rows) =>
      rows.map((row) => ({
        ...row,
        open: (): CustomHeaders => Redacted.make(parse(Redacted.value(decrypt(row.ciphertext, row.organizationId)))),
      })),
    ),
  )

/** Replaces the stored headers of an endpoint; null for none. */
export const writeHeaders = (
  sql: SqlClient.SqlClient,
  { encrypt }: SecretCipher["Service"],
  { id, organizationId }: { readonly id: EndpointId; readonly organizationId: OrganizationId },
  headers: CustomHeaders | null,
): Effect.Effect<unknown, SqlError.SqlError> => {
  if (headers === null) return sql`delete from endpoint_headers where endpoint_id = ${id}`
  const ciphertext = encrypt(Redacted.make(JSON.stringify(Redacted.value(headers))), organizationId)
  return sql`
    insert into endpoint_headers (endpoint_id, organization_id, ciphertext) values (${id}, ${organizationId}, ${ciphertext})
    on conflict (endpoint_id) do update set ciphertext = excluded.ciphertext`
}
