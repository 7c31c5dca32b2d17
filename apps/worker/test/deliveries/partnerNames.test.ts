import { execFileSync } from "node:child_process"
import { lookup } from "node:dns/promises"
import { constants, openSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { OrganizationId } from "@outreach/domain/Identifier"
import { type NameServerReply, NXDOMAIN, SERVFAIL, startNameServer } from "@outreach/testing/startNameServer"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { describe, expect, it } from "vitest"

type Answer = NonNullable<NameServerReply["records"]>[number]

const organizationId = OrganizationId.make(`org_${"0".repeat(32)}`)

const serve = async (replyTo: (name: string, type: string) => NameServerReply | undefined) => {
  const server = await startNameServer(replyTo)
  const names = partnerNames([server.address])
  return { asked: server.asked, find: (host: string) => names(host, organizationId) }
}
const ipv4 = (name: string, data: string, ttl = 60): Answer => ({ name, type: "A", data, ttl })
const ipv6 = (name: string, data: string): Answer => ({ name, type: "AAAA", data, ttl: 60 })
const cname = (name: string, data: string): Answer => ({ name, type: "CNAME", data, ttl: 60 })

describe("the name of an endpoint", () => {
  it("resolves to its addresses of both families, through aliases", async () => {
    const { find } = await serve((_, type) => ({
      records: [
        cname("hooks.test", "edge.test"),
        cname("edge.test", "host.test"),
        type === "A" ? ipv4("host.test", "192.0.2.1") : ipv6("host.test", "2001:db8::1"),
      ],
    }))
    expect(await find("hooks.test")).toEqual([
      { address: "192.0.2.1", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ])
  })

  it("resolves to one family's addresses if the query for the other fails or times out", async () => {
    const { find } = await serve((name, type) => {
      if (type === "AAAA") return name === "silent.test" ? undefined : { records: [ipv6(name, "2001:db8::1")] }
      return name === "silent.test" ? { records: [ipv4(name, "192.0.2.1")] } : { code: SERVFAIL }
    })
    expect(await find("silent.test")).toEqual([{ address: "192.0.2.1", family: 4 }])
    expect(await find("broken.test")).toEqual([{ address: "2001:db8::1", family: 6 }])
  })

  it.each<[string, string, (name: string) => NameServerReply | undefined]>([
    ["does not exist", "NXDOMAIN", () => ({ code: NXDOMAIN })],
    ["has a broken zone", "SERVFAIL", () => ({ code: SERVFAIL })],
    ["has no address", "no such record", () => ({})],
    ["has an alias for an alias without end", "no such record", (name) => ({ records: [cname(name, `a.${name}`)] })],
    ["is an alias of itself", "no such record", (name) => ({ records: [cname(name, name)] })],
    ["nobody answers for", "no answer", () => undefined],
  ])("that %s does not resolve, with what the name server said: %s", async (_, said, replyTo) => {
    const { find, asked } = await serve(replyTo)
    const failure = { code: "UNRESOLVED_NAME", said }
    await expect(find("hooks.test")).rejects.toMatchObject(failure)
    // The failure is cached.
    const before = asked.length
    await expect(find("hooks.test")).rejects.toMatchObject(failure)
    expect(asked).toHaveLength(before)
  })

  it("resolves to this machine if it is localhost, without querying a name server", async () => {
    const { find, asked } = await serve(() => undefined)
    const loopback = [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ]
    expect(await find("localhost")).toEqual(loopback)
    expect(await find("hooks.localhost.")).toEqual(loopback)
    expect(asked).toEqual([])
  })

  it("resolves while all pool threads are busy, when operators' names have to wait", async () => {
    const { find } = await serve((name, type) => ({ records: type === "A" ? [ipv4(name, "192.0.2.1")] : [] }))
    const folder = temporaryFolder("pool")
    const pipes = Array.from({ length: Number(process.env["UV_THREADPOOL_SIZE"] ?? 4) }, (_, i) => join(folder, `${i}`))
    for (const pipe of pipes) execFileSync("mkfifo", [pipe])
    // Opening a pipe blocks a thread until it has a writer.
    const opened = pipes.map((pipe) => open(pipe, "r"))
    let isLookedUp = false
    const lookedUp = lookup("localhost").then(() => {
      isLookedUp = true
    })
    expect(await find("hooks.test")).toEqual([{ address: "192.0.2.1", family: 4 }])
    expect(isLookedUp).toBe(false)
    for (const pipe of pipes) openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    for (const each of await Promise.all(opened)) await each.close()
    await lookedUp
  })
})
