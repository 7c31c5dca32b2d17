import { readFileSync } from "node:fs"
import * as web from "@outreach/signature"
import * as node from "@outreach/signature/node"
import { createWebhookVerifier } from "@outreach/webhook-verifier"
import { beforeAll, describe, expect, it } from "vitest"
import { verifySignature } from "../../src/docs/samples/verifySignature.ts"
import { startApi } from "../startApi.ts"
import type { SignatureCase, SignatureVectors } from "./SignatureVectors.ts"

const api = startApi()

let vectors: SignatureVectors
beforeAll(async () => {
  const response = await fetch(`${api().url}/docs/signature-vectors.json`)
  vectors = (await response.json()) as SignatureVectors
})

const bodyOf = ({ body_base64 }: SignatureCase) => new Uint8Array(Buffer.from(body_base64, "base64"))
const codeOf = (error: unknown) => (error as { readonly code: string }).code

/** Expected and actual result of each case for a verifier. */
const compare = async (verify: (one: SignatureCase) => unknown) => {
  const outcomes = await Promise.all(
    vectors.cases.map(async (one) => {
      const outcome = await Promise.resolve(one)
        .then(verify)
        .then(() => "accepted", codeOf)
      return [one.name, outcome] as const
    }),
  )
  expect(Object.fromEntries(outcomes)).toEqual(
    Object.fromEntries(vectors.cases.map(({ name, expected, code }) => [name, code ?? expected])),
  )
}

describe("the signatures to test with", () => {
  it("have unique names, and a code if they are rejected", () => {
    expect(new Set(vectors.cases.map(({ name }) => name)).size).toBe(vectors.cases.length)
    for (const { expected, code } of vectors.cases) expect(code !== undefined).toBe(expected === "refused")
  })

  it("contain every header that the package's own tests accept or reject", () => {
    const path = new URL("../../../../packages/signature/test/data/header-vectors.json", import.meta.url)
    const data = JSON.parse(readFileSync(path, "utf8")) as Record<"accepted" | "refused", Array<{ header: string }>>
    for (const expected of ["accepted", "refused"] as const) {
      const held = vectors.cases.filter((one) => one.expected === expected).map(({ headers }) => headers["X-Signature"])
      expect(held).toEqual(expect.arrayContaining(data[expected].map(({ header }) => header)))
    }
  })

  it.each([
    ["with Web Crypto", web.verify],
    ["on Node", node.verify],
  ] as const)("are what the package says of them %s", async (_, verify) => {
    await compare((one) => verify(one.headers["X-Signature"], bodyOf(one), one.secrets, one))
  })

  it("have the results that the verifier returns", async () => {
    // The bodies don't have to be events: rejecting the body means that the signature was valid.
    const ofTheBody = ["invalid_json", "not_an_event"]
    await compare(async (one) => {
      const verifier = createWebhookVerifier({ secrets: [...one.secrets], now: () => one.now })
      // A request has further headers.
      await verifier.verify({ headers: { Host: "a.test", ...one.headers }, body: bodyOf(one) }).catch((error) => {
        if (!ofTheBody.includes(codeOf(error))) throw error
      })
    })
  })

  it("have the results that the manual check returns", () => {
    const outcomes = vectors.cases.map((one) =>
      verifySignature(one.headers["X-Signature"] ?? "", bodyOf(one), [...one.secrets], one.now),
    )
    expect(outcomes).toEqual(vectors.cases.map(({ expected }) => expected === "accepted"))
  })
})
