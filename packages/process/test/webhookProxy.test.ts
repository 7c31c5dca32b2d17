import { ConfigProvider, Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { webhookProxy } from "../src/webhookProxy.ts"

const read = (env: Readonly<Record<string, string>>) =>
  Effect.runSync(Effect.result(webhookProxy.parse(ConfigProvider.fromEnv({ env }))))
const ADDRESS = "http://ann:p%40ss@proxy.test:3128"
const proxyOf = (env: Readonly<Record<string, string>> = {}) => {
  const result = read({ WEBHOOK_PROXY_URL: ADDRESS, ...env })
  return result._tag === "Success" ? result.success : undefined
}

describe("the forward proxy of webhooks", () => {
  it("is none by default, and an address with or without credentials", () => {
    expect(proxyOf({ WEBHOOK_PROXY_URL: "" })).toBeNull()
    expect(Redacted.value(proxyOf()!.url)).toBe(ADDRESS)
    expect(String(proxyOf()!.url)).not.toContain("proxy.test")
    expect(proxyOf({ WEBHOOK_PROXY_URL: "https://proxy.test" })).not.toBeUndefined()
  })

  it.each([
    "proxy.test:3128",
    "socks5://proxy.test",
    "http://proxy.test/path",
    "http://proxy.test?a",
    "http://a%zz@proxy.test",
  ])("can't be %s, which the error doesn't repeat", (WEBHOOK_PROXY_URL) => {
    const { cause } = (read({ WEBHOOK_PROXY_URL }) as { readonly failure: { readonly cause: Error } }).failure
    expect(cause.message).toMatch(/^WEBHOOK_PROXY_URL is malformed\. It must be none, or an http:\/\/ or https:\/\//)
    expect(cause.message).not.toContain(WEBHOOK_PROXY_URL)
  })

  it("has exceptions by name with subdomains, by address and by subnet", () => {
    const { hasHost, hasAddress } = proxyOf({
      WEBHOOK_PROXY_EXCEPT: "Partner.test, localhost,10.0.0.0/8,2001:db8::1",
    })!.except
    for (const host of ["partner.test", "a.partner.test", "partner.test.", "localhost"])
      expect(hasHost(host)).toBe(true)
    for (const host of ["mypartner.test", "test", "10.0.0.1"]) expect(hasHost(host)).toBe(false)
    for (const address of ["10.1.2.3", "2001:db8::1"]) expect(hasAddress(address)).toBe(true)
    for (const address of ["11.1.2.3", "2001:db8::2", "127.0.0.1"]) expect(hasAddress(address)).toBe(false)
    expect(proxyOf()!.except.hasHost("partner.test")).toBe(false)
  })

  it.each(["10.0.0.0/33", "*.partner.test", "a,,b", "https://partner.test"])("can't have the exception %s", (text) => {
    expect(proxyOf({ WEBHOOK_PROXY_EXCEPT: text })).toBeUndefined()
  })
})
