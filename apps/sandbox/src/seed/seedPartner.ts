import { SCOPES } from "@outreach/contract"
import { issueKey } from "@outreach/domain/callers/ApiKeys"
import { OrganizationRegistry } from "@outreach/domain/callers/OrganizationRegistry"
import { EndpointBook } from "@outreach/domain/deliveries/EndpointBook"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { makeIdentifier } from "@outreach/domain/Identifier"
import { ProgramCatalog } from "@outreach/domain/programs/ProgramCatalog"
import { Effect, Redacted } from "effect"
import type { Seeded } from "../keepsakes.ts"

/** Makes the sample partner's organization with a key of all scopes, a signing secret and an endpoint, and a program. */
export const seedPartner = Effect.fnUntraced(function* (webhooksUrl: string) {
  const organization = yield* (yield* OrganizationRegistry).create(
    yield* makeIdentifier("organization"),
    "Sample partner",
  )
  const { text } = yield* issueKey({
    organizationId: organization.id,
    name: "sandbox",
    scopes: SCOPES,
    expiresAt: null,
  })
  const secret = yield* rotateSecret(organization.id, 0)
  const endpoint = yield* (yield* EndpointBook).create({
    organizationId: organization.id,
    id: yield* makeIdentifier("endpoint"),
    url: webhooksUrl,
    eventTypes: null,
  })
  const program = yield* (yield* ProgramCatalog).create({
    organizationId: organization.id,
    id: yield* makeIdentifier("program"),
    slug: "heart-failure-2026",
    name: "Heart failure update",
    learnerTarget: 500,
    completerTarget: 200,
  })
  return {
    api_key: Redacted.value(text),
    signing_secret: Redacted.value(secret),
    organization_id: organization.id,
    program_id: program.id,
    endpoint_id: endpoint.id,
  } satisfies Seeded
})
