import type { CustomHeaders } from "@outreach/domain/deliveries/CustomHeaders"
import { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Redacted, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { rowsOf } from "../rowsOf.ts"
import type { SecretCipher } from "./SecretCipher.ts"

const sealed = rowsOf(
  Schema.Struct({ endpointId: EndpointId, organizationId: OrganizationId, ciphertext: Schema.Uint8Array }),
)
const parse = Schema.decodeSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** Reads the additional headers of those endpoints that have some. `open` throws if no key decrypts them. */
export const readHeaders = (
  sql: SqlClient.SqlClient,
  { decrypt }: SecretCipher["Service"],
  endpoints: ReadonlyArray<EndpointId>,
) =>
  sql`select ${sealed.columns} from endpoint_headers where endpoint_id = any (${endpoints}::text[])`.pipe(
    sealed.decode,
    Effect.map((rows) =>
      rows.map(({ endpointId, organizationId, ciphertext }) => ({
        endpointId,
        organizationId,
        open: (): CustomHeaders => Redacted.make(parse(Redacted.value(decrypt(ciphertext, organizationId)))),
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
