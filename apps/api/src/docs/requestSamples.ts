import { examples, type Operation, type OperationId, type Operations, operations } from "@outreach/contract"
import { Struct } from "effect"
import * as z from "zod"
import { code, type GuideValues, tabs } from "./renderGuide.ts"
import { type SampleRequest, samplesOf } from "./sampleLanguages.ts"

/** The reader's key in code, which the script of the pages replaces. */
export const KEY_PLACEHOLDER = "orp_test_YOUR_KEY"

type Query<Id extends OperationId> = ReadonlyArray<
  readonly [name: keyof z.input<Operations[Id]["query"]> & string, value: string]
>

const SINCE = ["since", "2026-01-01T00:00:00Z"] as const

/** Query of the operations that need one, or that are clearer with one. */
const queries: { readonly [Id in OperationId]?: Query<Id> } = {
  getToken: [["expand[]", "campaign"]],
  listTokens: [SINCE, ["limit", "100"]],
  listEvents: [SINCE, ["types[]", "outreach.email_sent"], ["types[]", "outreach.email_clicked"]],
  listCampaignRecipients: [["limit", "100"]],
  getDigest: [["date", examples.getDigest.response.date]],
  presignUpload: [["filename", "consent.pdf"]],
}

const requestOf = <Id extends OperationId>(
  id: Id,
  query: Query<Id> = queries[id] ?? [],
  headers: Readonly<Record<string, string>> = {},
): SampleRequest => {
  const { path, pathParameters, auth }: Operation = operations[id]
  const exampleOf = (_: string, name: string) => String(z.globalRegistry.get(pathParameters.shape[name]!)!["example"])
  const needsKey = auth.kind === "scope" || auth.kind === "bearer"
  return {
    url: `{{publicBaseUrl}}${path.replaceAll(/\{(\w+)\}/g, exampleOf)}`,
    query,
    headers: { ...(needsKey && { Authorization: `Bearer ${KEY_PLACEHOLDER}` }), ...headers },
    body: examples[id].request,
    ...(auth.kind === "signature" && { secret: "whsec_YOUR_SECRET" }),
  }
}

/** The requests that the pages show, by name: those of the operations, and those of the guides. */
export const requests: Readonly<Record<string, SampleRequest>> = {
  ...Object.fromEntries(Struct.keys(operations).map((id) => [id, requestOf(id)])),
  firstPage: requestOf("listEvents", [SINCE, ["limit", "2"]]),
  nextPage: requestOf("listEvents", [SINCE, ["limit", "2"], ["cursor", "NEXT_CURSOR"]]),
  repeatedRequest: requestOf("listEvents", [SINCE], { "Idempotency-Key": "nightly-2026-11-21" }),
  conditionalRequest: requestOf("getToken", [], { "If-None-Match": '"5d41402abc4b2a76"' }),
  rejectedRequest: requestOf("listTokens", []),
}

/** Code of the requests in each language, by the name of the request. */
export const requestSamples: GuideValues = Object.fromEntries(
  Object.entries(requests).map(([name, request]) => [
    name,
    tabs(
      name,
      samplesOf(name, request).map((sample) => [sample.title, code(sample.file, sample.code)]),
    ),
  ]),
)
