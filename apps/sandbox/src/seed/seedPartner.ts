import { SCOPES } from "@outreach/contract"
import { createEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { Operator } from "@outreach/domain/operators/Operator"
import { addOperator, createSignInLink, OperatorRepository } from "@outreach/domain/operators/Operators"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { createProgram } from "@outreach/domain/programs/Programs"
import { Effect, Redacted } from "effect"

/** Creates the sample partner: an organization with an API key of all scopes, a signing secret, an endpoint and a program. */
export const seedPartner = Effect.fnUntraced(function* (webhooksUrl: string) {
  const { id: organizationId } = yield* createOrganization("Sample partner")
  const { text } = yield* issueKey({ organizationId, name: "sandbox", scopes: SCOPES, expiresAt: null })
  const secret = yield* rotateSecret(organizationId, 0)
  const { endpoint } = yield* createEndpoint({ organizationId, url: webhooksUrl })
  const program = yield* createProgram({
    organizationId,
    slug: "heart-failure-2026",
    name: "Heart failure update",
    senderName: "Sample Partner Education",
    postalAddress: "1 Main Street, Springfield, IL 62701",
    learnerTarget: 500,
    completerTarget: 200,
  })
  return {
    api_key: Redacted.value(text),
    signing_secret: Redacted.value(secret),
    organization_id: organizationId,
    program_id: program.id,
    endpoint_id: endpoint.id,
  }
})

/** The ids and secrets of the sample partner. */
export type SeededPartner = Effect.Success<ReturnType<typeof seedPartner>>

/** As long as a sandbox may run. */
const LINK_SECONDS = 365 * 86_400

/** Returns the token of a link that signs an operator in any number of times: that of an earlier run if it still works. */
export const signInTokenOf = Effect.fnUntraced(function* (operator: Omit<Operator, "id">, earlier: string | undefined) {
  const operators = yield* OperatorRepository
  if (earlier !== undefined && (yield* operators.findSignInLink(earlier)) !== undefined) return earlier
  const known = (yield* operators.list).find(({ name, removedAt }) => name === operator.name && removedAt === null)
  const { id } = known ?? (yield* addOperator(operator))
  return Redacted.value((yield* createSignInLink(id, { seconds: LINK_SECONDS, once: false })).token)
})
