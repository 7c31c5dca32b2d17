import { describe, expect, it, vi } from "vitest"
import { projectServer, run, workspaceWith } from "./exampleProject.ts"

const server = projectServer(workspaceWith("error-catalog"), "invoices")

const request = async (path: string, body?: string) => {
  const response = await fetch(server.url + path, body === undefined ? {} : { method: "POST", body })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const client = async (...args: string[]) =>
  (await run(server.project, ["node", "src/client.ts", ...args], { INVOICES_URL: server.url })).trim()

describe("the invoices API of another team, from the tarball", () => {
  it("type-checks", () => run(server.project, ["npm", "run", "check"]))

  it("returns its own codes as problem+json", async () => {
    const { status, headers, text } = await request("/invoices/inv_9")
    expect(status).toBe(404)
    expect(headers.get("Content-Type")).toBe("application/problem+json")
    expect(JSON.parse(text)).toEqual({
      type: "https://invoices.example.com/errors#INVOICE_NOT_FOUND",
      title: "There is no such invoice.",
      status: 404,
      instance: "/invoices/inv_9",
      code: "INVOICE_NOT_FOUND",
      request_id: headers.get("X-Request-Id"),
      invoice: "inv_9",
    })
    expect(JSON.parse((await request("/nowhere")).text)).toMatchObject({ status: 404, code: "NOT_FOUND" })
    for (const body of ["", "{"]) {
      const { status, text } = await request("/invoices/inv_1/payments", body)
      expect([status, JSON.parse(text)]).toMatchObject([
        400,
        { code: "INVALID_REQUEST", title: "The request is not valid." },
      ])
    }
    for (const body of ["[]", '{"amount":"2"}', '{"amount":-1}', '{"__proto__":{"amount":2}}']) {
      const { status, text } = await request("/invoices/inv_1/payments", body)
      expect([status, JSON.parse(text)]).toMatchObject([400, { code: "INVALID_BODY", issues: [{}] }])
    }
  })

  it("hides an error that isn't its own, logs it, and delays the next attempt", async () => {
    const failed = await request("/invoices/inv_2/payments", '{"amount":2000000}')
    expect([failed.status, JSON.parse(failed.text).code]).toEqual([500, "INTERNAL"])
    expect(failed.text).not.toMatch(/bank|4242/)
    await vi.waitFor(() => expect(server.printed()).toContain("bank: account 4242"))
    const soon = await request("/invoices/inv_2/payments", '{"amount":5}')
    if (soon.status === 429) expect(soon.headers.get("Retry-After")).toBe("1")
    else expect(soon.status).toBe(201)
  })

  it("is read by its client, which knows the details of each code", async () => {
    expect(await client("inv_3", "-1")).toMatch(/^amount: /)
    expect(await client("inv_9", "250")).toBe("no invoice inv_9")
    await request("/invoices/inv_3/payments", '{"amount":2000000}')
    expect(await client("inv_3", "250")).toMatch(/^(TOO_MANY_PAYMENTS: waits 1 s\n)?paid$/)
    expect(await client("inv_3", "250")).toMatch(/^paid already: 250 at 20/)
  })

  it("publishes an OpenAPI document and the page of codes", async () => {
    const { paths, components } = JSON.parse((await request("/openapi.json")).text)
    const pay = paths["/invoices/{id}/payments"].post.responses
    expect(Object.keys(pay)).toEqual(["201", "400", "404", "409", "429", "500"])
    expect(pay["409"].content["application/problem+json"].schema).toEqual({ $ref: "#/components/schemas/ALREADY_PAID" })
    expect(components.schemas.ALREADY_PAID.allOf[0].properties.payment.properties.amount).toEqual({ type: "number" })
    expect((await request("/errors.md")).text).toContain('### <a id="ALREADY_PAID"></a>`ALREADY_PAID`')
  })
})
