import { createPublicKey } from "node:crypto"
import { Resolver } from "node:dns/promises"
import { type Finding, failed, ok, warning } from "@outreach/domain/operators/Finding"
import { dkimName, dmarcName } from "@outreach/domain/senders/dnsRecords"
import { domainOf, isAligned, type Sender } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import type { SmtpSettings } from "./smtpSettings.ts"

const DNS_MS = 10_000

/** Creates a resolver that uses these name servers, or the machine's if the list is empty. */
export const createResolver = (servers: ReadonlyArray<string>): Resolver => {
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}

/** Checks the DNS records that receivers use for e-mails of the deployment's own sender: DKIM, SPF, DMARC, and the destination of bounces. */
export const dnsFindings = (resolver: Resolver, { sender: { from, dkim }, bounceDomain }: SmtpSettings) => {
  const lookUp = lookUps(resolver)
  return {
    DKIM: dkim === null ? NOT_SIGNED : lookUp.dkim(dkim.domain, { ...dkim.keys[0]!, name: "DKIM_KEY" }),
    SPF: lookUp.spf(bounceDomain),
    DMARC: lookUp.dmarc(domainOf(from.address), dkim?.domain),
    MX: lookUp.mx(bounceDomain),
  }
}

const NOT_SIGNED = Effect.succeed(
  warning(
    "DKIM_KEY is not set, so e-mails are not signed.",
    "Create a key. Large receivers reject unsigned bulk mail.",
  ),
)

/** Result of a look-up, with its record, such as `TXT bounces.acme.example`. */
export interface RecordFinding extends Finding {
  readonly record: string
}

/** Same checks for a sender of an organization or a program. A key that isn't used yet counts like an active one. */
export const senderFindings = (resolver: Resolver, sender: Sender): Effect.Effect<ReadonlyArray<RecordFinding>> => {
  const { id, dkimDomain, bounceDomain, fromAddress, keys } = sender
  const lookUp = lookUps(resolver)
  const needed = keys.filter(({ isSigning, signsFrom }) => isSigning || signsFrom === null)
  const checks: ReadonlyArray<readonly [record: string, Effect.Effect<Finding, Finding>]> = [
    ...needed.map((key) => {
      const signing = { ...key, name: `the key ${key.selector} of ${id}`, command: ["senders", "show", id] }
      return [`TXT ${dkimName(key, dkimDomain)}`, lookUp.dkim(dkimDomain, signing)] as const
    }),
    [`TXT ${dmarcName(fromAddress)}`, lookUp.dmarc(domainOf(fromAddress), dkimDomain)],
    // The deployment's own domain is checked with the settings.
    ...(bounceDomain === null
      ? []
      : ([
          [`TXT ${bounceDomain}`, lookUp.spf(bounceDomain)],
          [`MX ${bounceDomain}`, lookUp.mx(bounceDomain)],
        ] as const)),
  ]
  return lookUpAll(checks)
}

/** Runs the checks of several records. Failures are returned as findings. */
export const lookUpAll = (
  checks: ReadonlyArray<readonly [record: string, Effect.Effect<Finding, Finding>]>,
): Effect.Effect<ReadonlyArray<RecordFinding>> =>
  Effect.forEach(
    checks,
    ([record, finding]) => Effect.map(Effect.catch(finding, Effect.succeed), (found) => ({ record, ...found })),
    { concurrency: "unbounded" },
  )

const lookUps = (resolver: Resolver) => {
  const txt = (name: string) =>
    query(name, () => resolver.resolveTxt(name)).pipe(
      Effect.map((records) => records?.map((chunks) => chunks.join("")) ?? []),
    )
  return {
    dkim: (domain: string, key: SigningKey & { readonly selector: string }) => {
      const name = dkimName(key, domain)
      return Effect.map(txt(name), (records) => dkimFinding(name, records, key))
    },
    spf: (domain: string) => Effect.map(txt(domain), (records) => spfFinding(domain, records)),
    dmarc: Effect.fnUntraced(function* (domain: string, dkimDomain: string | undefined) {
      for (let at = domain; at.includes("."); at = at.slice(at.indexOf(".") + 1)) {
        const records = (yield* txt(`_dmarc.${at}`)).filter((record) => /^v=DMARC1\s*(?:;|$)/.test(record))
        if (records.length > 0) return dmarcFinding(domain, { at: `_dmarc.${at}`, records }, dkimDomain)
      }
      return dmarcFinding(domain, undefined, dkimDomain)
    }),
    mx: Effect.fnUntraced(function* (domain: string) {
      const servers = (yield* query(domain, () => resolver.resolveMx(domain))) ?? []
      const names = servers.toSorted((a, b) => a.priority - b.priority).map(({ exchange }) => exchange)
      if (names.includes("")) return failed(`The domain ${domain} accepts no e-mail (null MX).`, MX_ADVICE)
      if (names.length > 0) return ok(`Bounces to ${domain} go to ${names.join(", ")}.`)
      const addresses = yield* Effect.all([
        query(domain, () => resolver.resolve4(domain)),
        query(domain, () => resolver.resolve6(domain)),
      ])
      return addresses.every((found) => found === undefined || found.length === 0)
        ? failed(`The domain ${domain} has neither an MX record nor an address.`, MX_ADVICE)
        : warning(`The domain ${domain} has no MX record; bounces go to its address.`, MX_ADVICE)
    }),
  }
}

const MX_ADVICE = "Publish an MX record for the domain of the return paths, or bounces and delivery reports are lost."

/** Returns undefined if the record doesn't exist. Fails if the name server doesn't answer. */
export const query = <A>(name: string, ask: () => Promise<A>): Effect.Effect<A | undefined, Finding> =>
  Effect.tryPromise({ try: ask, catch: (error) => String((error as { code?: unknown }).code) }).pipe(
    Effect.timeoutOrElse({ duration: DNS_MS, orElse: () => Effect.fail("ETIMEOUT") }),
    Effect.catch((code) =>
      code === "ENOTFOUND" || code === "ENODATA"
        ? Effect.undefined
        : Effect.fail(
            failed(
              `The name server gives no response for ${name} (${code}).`,
              "Check this machine's resolver, or use another name server.",
            ),
          ),
    ),
  )

const MIN_BITS = 2048

interface SigningKey {
  /** SPKI in base64. */
  readonly publicKey: string
  /** Name of the key, such as `DKIM_KEY`. */
  readonly name: string
  /** Command that prints its public half. Default: openssl. */
  readonly command?: ReadonlyArray<string>
}

/** Compares the DKIM records at a name (RFC 6376) with the signing key. */
export const dkimFinding = (name: string, records: ReadonlyArray<string>, signing: SigningKey): Finding => {
  const spki = signing.publicKey
  const key = createPublicKey({ key: Buffer.from(spki, "base64"), type: "spki", format: "der" })
  // RFC 6376 specifies this format; nearly all records use SPKI.
  const pkcs1 = key.export({ type: "pkcs1", format: "der" }).toString("base64")
  const publish = `Publish the TXT record "v=DKIM1; k=rsa; p=…" at ${name} with the public half of ${signing.name}${signing.command ? "" : " (`openssl pkey -pubout`)"}.`
  const fault = (found: string) => failed(found, publish, signing.command)
  const found = records.map(tagsOf).filter((tags) => tags.has("p") && (tags.get("v") ?? "DKIM1") === "DKIM1")
  const [record] = found
  if (record === undefined) return fault(`There is no DKIM record at ${name}.`)
  if (found.length > 1) return failed(`There are ${found.length} DKIM records at ${name}.`, "Leave one of them.")
  const published = record.get("p")!.replaceAll(/\s/g, "")
  if (published === "") return fault(`The DKIM record at ${name} is revoked.`)
  if (published !== spki && published !== pkcs1) {
    return fault(`The DKIM record at ${name} belongs to another key than ${signing.name}.`)
  }
  if ((record.get("k") ?? "rsa") !== "rsa" || !lists(record.get("h"), "sha256") || !lists(record.get("s"), "email")) {
    return fault(`The DKIM record at ${name} does not allow e-mail signed with rsa-sha256.`)
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  const said = `The DKIM record at ${name} belongs to ${signing.name}, of ${bits} bits.`
  if (record.get("t")?.split(":").includes("y")) {
    return warning(`${said} It is marked as a test.`, "Remove t=y from the record once the signatures pass.")
  }
  return bits < MIN_BITS ? warning(said, `Use a key of ${MIN_BITS} bits (RFC 8301).`) : ok(said)
}

/** Checks the SPF record of the return-path domain (RFC 7208). */
export const spfFinding = (domain: string, records: ReadonlyArray<string>): Finding => {
  const found = records.filter((record) => /^v=spf1(?: |$)/i.test(record))
  const [record] = found
  if (record === undefined) {
    return failed(
      `There is no SPF record at ${domain}.`,
      `Publish the TXT record "v=spf1 include:… ~all" at ${domain}, with the include of your mail provider.`,
    )
  }
  if (found.length > 1) return failed(`There are ${found.length} SPF records at ${domain}.`, "Merge them into one.")
  const terms = record.split(/ +/).slice(1)
  const includes = terms.flatMap((term) => /^\+?include:(.+)$/i.exec(term)?.[1] ?? [])
  const redirect = terms.flatMap((term) => /^redirect=(.+)$/i.exec(term)?.[1] ?? [])[0]
  const [, qualifier] = terms.map((term) => /^([-~?+]?)all$/i.exec(term)).find((all) => all !== null) ?? []
  const rest = qualifier !== undefined ? `ends with ${qualifier || "+"}all` : `redirects to ${redirect}`
  const said = `The SPF record of ${domain} includes ${includes.join(", ") || "no other record"}, and`
  if (qualifier === undefined && redirect === undefined) {
    return warning(`${said} has no all.`, "End it with ~all or -all, so that other senders do not pass as neutral.")
  }
  return qualifier === "" || qualifier === "+" || qualifier === "?"
    ? warning(`${said} ${rest}.`, "End it with ~all or -all, because now any sender passes.")
    : ok(`${said} ${rest}.`)
}

/** Checks the DMARC record of the sender's domain, or of the nearest parent domain with one. */
export const dmarcFinding = (
  domain: string,
  found: { readonly at: string; readonly records: ReadonlyArray<string> } | undefined,
  dkimDomain: string | undefined,
): Finding => {
  const publish = `Publish the TXT record "v=DMARC1; p=none; rua=mailto:…" at _dmarc.${domain}; large receivers demand one of bulk senders.`
  if (found === undefined) return warning(`There is no DMARC record for ${domain}.`, publish)
  const { at, records } = found
  if (records.length > 1) return warning(`There are ${records.length} DMARC records at ${at}.`, "Leave one of them.")
  const tags = tagsOf(records[0]!)
  const policy = (at === `_dmarc.${domain}` ? undefined : tags.get("sp")) ?? tags.get("p") ?? ""
  const said = `The DMARC record at ${at} requests the policy ${policy}.`
  if (!/^(?:none|quarantine|reject)$/i.test(policy))
    return warning(`The DMARC record at ${at} has no valid policy.`, publish)
  const isStrict = tags.get("adkim") === "s"
  if (dkimDomain === undefined || (isStrict ? dkimDomain === domain : isAligned(dkimDomain, domain))) return ok(said)
  return warning(
    `${said} The DKIM domain ${dkimDomain} is not aligned with ${domain}.`,
    "Sign with the domain of the From address, so that the signature counts for DMARC.",
  )
}

/** Parses a tag list such as `v=DKIM1; p=…` (RFC 6376, 3.2). */
const tagsOf = (record: string): ReadonlyMap<string, string> =>
  new Map(
    record.split(";").flatMap((tag) => {
      const [, name, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/s.exec(tag) ?? []
      return name === undefined ? [] : [[name, value!] as const]
    }),
  )

/** Returns whether a tag's list contains a word or a wildcard. */
const lists = (list: string | undefined, word: string): boolean =>
  list === undefined || list.split(":").some((each) => each.trim() === word || each.trim() === "*")
