import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { PartnerActivityReader, totalOf } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import type { RequestCount } from "@outreach/postgres/organizations/PartnerActivity"
import { Array as Arr, Effect } from "effect"
import { formatRecord, formatRows } from "../output/Output.ts"

const HOURS = 24

export const readActivity = Effect.fnUntraced(function* (id: OrganizationId) {
  const organization = yield* (yield* OrganizationReader).find(id)
  const activity = yield* PartnerActivityReader
  const counts = yield* activity.hourlyRequests(id, HOURS)
  const windows = yield* activity.windowUse(id)
  const keys = (yield* (yield* ApiKeyRepository).list(id)).map((key) => ({
    id: key.id,
    name: key.name,
    lastUsedAt: key.lastUsedAt,
    thisMinute: windows.find(({ keyId }) => keyId === key.id)?.count ?? 0,
    ...totalOf(counts.filter(({ callerId }) => callerId === key.id)),
  }))
  return {
    organization,
    keys,
    errors: errorsOf(counts),
    pollers: yield* activity.pollers(id),
    verifications: yield* (yield* SigningSecretRepository).verifications(id),
  }
})

/** Adds the errors of all hours up, by caller and code, the most frequent first. */
const errorsOf = (counts: ReadonlyArray<RequestCount>) =>
  Object.values(
    Arr.groupBy(
      counts.filter(({ code }) => code !== ""),
      ({ callerId, code }) => `${callerId} ${code}`,
    ),
  )
    .map((rows) => ({ callerId: rows[0].callerId, code: rows[0].code, requests: totalOf(rows).requests }))
    .sort((a, b) => b.requests - a.requests)

export const formatActivity = (activity: Effect.Success<ReturnType<typeof readActivity>>) => {
  const { organization, keys, errors, pollers, verifications } = activity
  return [
    formatRecord(organization),
    `Keys, with their requests of ${HOURS} hours and the most in a minute`,
    formatRows(keys, ["id", "name", "lastUsedAt", "thisMinute", "peak", "requests", "errors"]),
    `Errors of ${HOURS} hours, by key or by the endpoint that a webhook came to`,
    formatRows(errors, ["callerId", "code", "requests"]),
    "Pollers, with what each has not read yet",
    formatRows(pollers, ["keyId", "list", "at", "hasMore", "lagRows", "lagSeconds", "readAt"]),
    "Secrets that the partner signs with",
    formatRows(verifications, ["secretId", "endpointId", "verifiedAt"]),
  ]
}
