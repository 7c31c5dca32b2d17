import { SCOPES } from "@outreach/contract/names"
import { DisplayName } from "@outreach/domain/DisplayName"
import { Instant } from "@outreach/domain/Instant"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { DEFAULT_OVERLAP_SECONDS, issueKey, rotateKey } from "@outreach/domain/organizations/ApiKeys"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Redacted } from "effect"
import { formatDuration } from "../../components/format.ts"
import { foreign } from "../../components/values.tsx"
import { checkBoxes, field, required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"
import { assertTyped, confirmFields } from "./confirmByName.tsx"
import { ShownOnce } from "./ShownOnce.tsx"

/** Issues a key, and shows it once. */
export const issueKeyAction = defineAction({
  path: "/partners/:organization/keys",
  role: "admin",
  command: "keys issue",
  inputs: {
    name: required(field(DisplayName, "What the key is for", { hint: "Such as Nightly sync" })),
    scopes: required(checkBoxes("Scopes", SCOPES)),
    expires: field(Instant, "Expires", { hint: "Such as 2027-01-01T00:00:00Z; empty for never" }),
  },
  run: Effect.fnUntraced(function* ({ organization, name, scopes, expires = null }) {
    const { key, text } = yield* issueKey({ organizationId: organization, name, scopes, expiresAt: expires })
    return {
      title: "New API key",
      commands: [`ops keys issue --organization ${organization} --name "${name}" --scopes ${scopes.join(",")}`],
      body: (
        <ShownOnce text={Redacted.value(text)} back={`/partners/${organization}`}>
          <p>
            {foreign`“${name}” may ${scopes.join(", ")}.`} Its id is <code>{key.id}</code>.
          </p>
        </ShownOnce>
      ),
    }
  }),
})

/** Issues a successor of a key, shows it once, and lets the old one end. */
export const rotateKeyAction = defineAction({
  path: "/keys/:key/rotate",
  role: "admin",
  command: "keys rotate",
  inputs: {
    overlap: field(Seconds, "The old one stays valid for", { value: "24h", hint: "Such as 24h or 0s", size: 6 }),
  },
  run: Effect.fnUntraced(function* ({ key: id, overlap = DEFAULT_OVERLAP_SECONDS }) {
    const { key, text } = yield* rotateKey(id, overlap)
    return {
      title: "New API key",
      commands: [`ops keys rotate ${id} --overlap ${overlap}s`],
      body: (
        <ShownOnce text={Redacted.value(text)} back={`/partners/${key.organizationId}`}>
          <p>
            It follows <code>{id}</code>, which stays valid for {formatDuration(overlap)} at most. Its id is{" "}
            <code>{key.id}</code>.
          </p>
        </ShownOnce>
      ),
    }
  }),
})

export const revokeKeyAction = defineAction({
  path: "/keys/:key/revoke",
  role: "admin",
  command: "keys revoke",
  inputs: confirmFields,
  run: Effect.fnUntraced(function* ({ key: id, confirm }) {
    const keys = yield* ApiKeyRepository
    const { name, organizationId } = yield* keys.find(id)
    yield* assertTyped(confirm, name)
    yield* keys.revoke(id)
    return { to: `/partners/${organizationId}`, notice: `Revoked “${name}”. Its next request is answered with 401.` }
  }),
})
