import { linkHostOf, lookUpSender, SenderSetup } from "@outreach/backoffice/senders/SenderSetup"
import { type DnsRecord, dnsRecords } from "@outreach/domain/senders/dnsRecords"
import { type Sender, verifiedLinkDomain } from "@outreach/domain/senders/Sender"
import { fromUnixMillis, type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import type { RecordFinding } from "@outreach/mail/dnsFindings"
import { Clock, Context, Effect, Layer } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"

/** The name servers' records of a sender, and the time of the query. */
export interface LookUp {
  readonly at: Timestamp
  readonly findings: ReadonlyArray<RecordFinding>
}

/** Age at which a result is queried again. */
const FRESH_MS = 60_000
/** Maximum number of senders in the cache. */
const MAX_KEPT = 500

/** Queries the DNS records of senders and caches the results, so that no page waits for a name server. */
export class SenderLookUps extends Context.Service<SenderLookUps>()("console/SenderLookUps", {
  make: Effect.gen(function* () {
    const { dnsServers, preflight, allowPrivateAddresses, secretsKey } = yield* ConsoleConfig
    const { publicBaseUrl } = preflight
    const target = { publicBaseUrl, allowPrivateAddresses, secretsKey: Effect.succeed(secretsKey) }
    const linkHost = linkHostOf(publicBaseUrl)
    const scope = yield* Effect.scope
    const kept = new Map<string, LookUp>()
    const underWay = new Set<string>()

    const recordsOf = (sender: Sender): ReadonlyArray<DnsRecord> => dnsRecords(sender, linkHost)
    const keyOf = (sender: Sender): string => `${sender.id} ${JSON.stringify(recordsOf(sender))}`

    /** Queries the current records, and whether this deployment responds at a link domain. */
    const lookUp = Effect.fnUntraced(function* (sender: Sender, linkDomain: string | null) {
      const findings = yield* lookUpSender(dnsServers, target, sender, linkDomain)
      kept.delete(keyOf(sender))
      kept.set(keyOf(sender), { at: fromUnixMillis(yield* Clock.currentTimeMillis), findings })
      if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!)
      return findings
    })

    /** Returns the last result and refreshes an old one in the background; undefined without a result. */
    const lastOf = Effect.fnUntraced(function* (sender: Sender, now: number) {
      const key = keyOf(sender)
      const last = kept.get(key)
      if (!underWay.has(key) && (last === undefined || now - toUnixMillis(last.at) > FRESH_MS)) {
        underWay.add(key)
        yield* lookUp(sender, verifiedLinkDomain(sender)).pipe(
          Effect.ensuring(Effect.sync(() => underWay.delete(key))),
          Effect.forkIn(scope),
        )
      }
      return last
    })

    return { linkHost, recordsOf, lookUp, lastOf }
  }),
}) {
  static readonly layer = Layer.provideMerge(
    Layer.effect(SenderSetup, SenderLookUps),
    Layer.effect(SenderLookUps, SenderLookUps.make),
  )
}
