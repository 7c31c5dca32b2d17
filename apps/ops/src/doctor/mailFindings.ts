import { Resolver } from "node:dns/promises"
import { logIn } from "@outreach/mail/logIn"
import type { smtpSettings } from "@outreach/mail/smtpSettings"
import { type Config, Effect, Redacted } from "effect"
import { type Finding, failed, ok, skipped, warning } from "./Finding.ts"
import { dkimFinding, dmarcFinding, dmarcRecords, spfFinding } from "./mailRecords.ts"

type SmtpSettings = Config.Success<typeof smtpSettings>

const SMTP_MS = 20_000
const DNS_MS = 10_000

/** Creates the resolver that the checks of DNS records use: the system's, or the server's that the operator names. */
export const createResolver = (server: string | undefined): Resolver => {
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  if (server !== undefined) resolver.setServers([server])
  return resolver
}

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
    Effect.catch((error) =>
      Effect.succeed(
        failed(
          `The mail server does not let us in: ${error._tag === "LoginFailed" ? error.reason : "it took too long"}.`,
          "Check SMTP_URL; see docs/operations.md#the-mail-server-rejects-us.",
        ),
      ),
    ),
  )

/** Looks up what receivers look up about our e-mails: the DKIM, SPF and DMARC records, and where bounces go. */
export const dnsFindings = (resolver: Resolver, { domain, bounceDomain, dkim }: SmtpSettings) => {
  const txt = (name: string) =>
    query(name, () => resolver.resolveTxt(name)).pipe(
      Effect.map((records) => records?.map((chunks) => chunks.join("")) ?? []),
    )
  const dkimName = dkim && `${dkim.selector}._domainkey.${dkim.domain}`
  return {
    DKIM:
      dkim === null || dkimName === null
        ? Effect.succeed(
            warning(
              "DKIM_KEY is not set, so e-mails are not signed.",
              "Make a key; large receivers refuse unsigned bulk mail.",
            ),
          )
        : Effect.map(txt(dkimName), (records) => dkimFinding(dkimName, records, Redacted.value(dkim.key))),
    SPF: Effect.map(txt(bounceDomain), (records) => spfFinding(bounceDomain, records)),
    DMARC: Effect.gen(function* () {
      for (let at = domain; at.includes("."); at = at.slice(at.indexOf(".") + 1)) {
        const records = dmarcRecords(yield* txt(`_dmarc.${at}`))
        if (records.length > 0) return dmarcFinding(domain, { at: `_dmarc.${at}`, records }, dkim?.domain)
      }
      return dmarcFinding(domain, undefined, dkim?.domain)
    }),
    MX: Effect.gen(function* () {
      const servers = yield* query(bounceDomain, () => resolver.resolveMx(bounceDomain))
      const names = servers?.toSorted((a, b) => a.priority - b.priority).map(({ exchange }) => exchange) ?? []
      if (names.includes("")) return failed(`The domain ${bounceDomain} accepts no e-mail (null MX).`, MX_ADVICE)
      if (names.length > 0) return ok(`Bounces to ${bounceDomain} go to ${names.join(", ")}.`)
      const addresses = yield* Effect.all([
        query(bounceDomain, () => resolver.resolve4(bounceDomain)),
        query(bounceDomain, () => resolver.resolve6(bounceDomain)),
      ])
      return addresses.every((found) => found === undefined || found.length === 0)
        ? failed(`The domain ${bounceDomain} has neither an MX record nor an address.`, MX_ADVICE)
        : warning(`The domain ${bounceDomain} has no MX record; bounces go to its address.`, MX_ADVICE)
    }),
  } satisfies Record<string, Effect.Effect<Finding, DnsFailed>>
}

const MX_ADVICE = "Publish an MX record for BOUNCE_DOMAIN, or bounces and delivery reports are lost."

/** The name server gave no answer that says whether there is a record. */
export interface DnsFailed {
  readonly _tag: "DnsFailed"
  readonly name: string
  readonly code: string
}

/** Returns undefined if there is no such record. */
const query = <A>(name: string, ask: () => Promise<A>): Effect.Effect<A | undefined, DnsFailed> =>
  Effect.tryPromise({ try: ask, catch: (error) => String((error as { code?: unknown }).code) }).pipe(
    Effect.timeoutOrElse({ duration: DNS_MS, orElse: () => Effect.fail("ETIMEOUT") }),
    Effect.catch((code) =>
      code === "ENOTFOUND" || code === "ENODATA"
        ? Effect.succeed(undefined)
        : Effect.fail({ _tag: "DnsFailed", name, code } as const),
    ),
  )

/** The finding of a lookup that failed. */
export const dnsFailedFinding = ({ name, code }: DnsFailed): Finding =>
  failed(
    `The name server gives no response for ${name} (${code}).`,
    "Check the resolver of this machine, or name another with --dns-server.",
  )

export const mailSkipped = (reason: string): Finding => skipped(`E-mail was not checked: ${reason}`)
