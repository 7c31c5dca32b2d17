import type { Resolver } from "node:dns/promises"
import { type Finding, failed, ok, warning } from "@outreach/domain/operators/Finding"
import { dkimName } from "@outreach/domain/senders/dnsRecords"
import { domainOf, type SenderWithKeys } from "@outreach/domain/senders/Sender"
import { logIn } from "@outreach/mail/logIn"
import type { smtpSettings } from "@outreach/mail/smtpSettings"
import { type Config, Effect } from "effect"
import { dkimFinding, dmarcFinding, dmarcRecords, type SigningKey, spfFinding } from "./mailRecords.ts"

type SmtpSettings = Config.Success<typeof smtpSettings>

const SMTP_MS = 20_000
const DNS_MS = 10_000

/** Logs in to the mail server as for a message, and sends none. */
export const smtpFinding = ({ smtpUrl }: SmtpSettings) =>
  logIn(smtpUrl).pipe(
    Effect.timeout(SMTP_MS),
    Effect.map(({ isEncrypted, isLoggedIn, hasCredentials, host }) => {
      if (hasCredentials && !isLoggedIn) {
        return failed(
          "The mail server answers, and offers no login that SMTP_URL's user could use.",
          "Name the port for submission (587 or 465) in SMTP_URL, or remove the user.",
        )
      }
      const said = `The mail server answers${isLoggedIn ? ", and the login succeeds" : ""}; the connection is ${isEncrypted ? "" : "not "}encrypted.`
      return isEncrypted || /^(?:localhost|127\..*|::1)$/.test(host)
        ? ok(said)
        : warning(said, "Use smtps://, or a server that offers STARTTLS.")
    }),
    Effect.mapError((error) =>
      failed(
        `The mail server does not let us in: ${error._tag === "LoginFailed" ? error.reason : "it took too long"}.`,
        "Check SMTP_URL; see docs/operations.md#the-mail-server-rejects-us.",
      ),
    ),
  )

/** Looks up what receivers look up about e-mails of the deployment's own sender: the DKIM, SPF and DMARC records, and where bounces go. */
export const dnsFindings = (resolver: Resolver, { sender: { from, dkim }, bounceDomain }: SmtpSettings) => {
  const lookUp = lookUps(resolver)
  return {
    DKIM:
      dkim === null
        ? Effect.succeed(
            warning(
              "DKIM_KEY is not set, so e-mails are not signed.",
              "Make a key; large receivers refuse unsigned bulk mail.",
            ),
          )
        : lookUp.dkim(dkimName(dkim.keys[0]!, dkim.domain), {
            publicKey: dkim.keys[0]!.publicKey,
            name: "DKIM_KEY",
            printedBy: "openssl pkey -pubout",
          }),
    SPF: lookUp.spf(bounceDomain),
    DMARC: lookUp.dmarc(domainOf(from.address), dkim?.domain),
    MX: lookUp.mx(bounceDomain),
  }
}

/** Looks up the same about a sender of an organization or a program, whose key that signs nothing yet counts as one that signs. */
export const senderFindings = (resolver: Resolver, sender: SenderWithKeys): Effect.Effect<ReadonlyArray<Finding>> => {
  const { id, dkimDomain, bounceDomain, fromAddress, keys } = sender
  const lookUp = lookUps(resolver)
  const needed = keys.filter(({ isSigning, signsFrom }) => isSigning || signsFrom === null)
  const checks = [
    ...needed.map((key) =>
      lookUp.dkim(dkimName(key, dkimDomain), {
        publicKey: key.publicKey,
        name: `the key ${key.selector} of ${id}`,
        printedBy: `ops senders show ${id}`,
      }),
    ),
    lookUp.dmarc(domainOf(fromAddress), dkimDomain),
    // The deployment's own is checked with the settings.
    ...(bounceDomain === null ? [] : [lookUp.spf(bounceDomain), lookUp.mx(bounceDomain)]),
  ]
  return Effect.forEach(checks, Effect.catch(Effect.succeed), { concurrency: "unbounded" })
}

const lookUps = (resolver: Resolver) => {
  const txt = (name: string) =>
    query(name, () => resolver.resolveTxt(name)).pipe(
      Effect.map((records) => records?.map((chunks) => chunks.join("")) ?? []),
    )
  return {
    dkim: (name: string, key: SigningKey) => Effect.map(txt(name), (records) => dkimFinding(name, records, key)),
    spf: (domain: string) => Effect.map(txt(domain), (records) => spfFinding(domain, records)),
    dmarc: Effect.fnUntraced(function* (domain: string, dkimDomain: string | undefined) {
      for (let at = domain; at.includes("."); at = at.slice(at.indexOf(".") + 1)) {
        const records = dmarcRecords(yield* txt(`_dmarc.${at}`))
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

/** Returns undefined if there is no such record, and fails if the name server does not say whether there is one. */
const query = <A>(name: string, ask: () => Promise<A>): Effect.Effect<A | undefined, Finding> =>
  Effect.tryPromise({ try: ask, catch: (error) => String((error as { code?: unknown }).code) }).pipe(
    Effect.timeoutOrElse({ duration: DNS_MS, orElse: () => Effect.fail("ETIMEOUT") }),
    Effect.catch((code) =>
      code === "ENOTFOUND" || code === "ENODATA"
        ? Effect.undefined
        : Effect.fail(
            failed(
              `The name server gives no response for ${name} (${code}).`,
              "Check the resolver of this machine, or name another with --dns-server.",
            ),
          ),
    ),
  )
