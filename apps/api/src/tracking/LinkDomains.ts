import { coalesce } from "@outreach/domain/coalesce"
import { toAsciiDomain } from "@outreach/domain/DomainName"
import {
  isLinkDomainChallenge,
  LINK_DOMAIN_PROOF_PATH,
  proveLinkDomain,
  TrackingSeal,
} from "@outreach/domain/hits/TrackingLinks"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { describeCause } from "@outreach/process/describeCause"
import { Context, Effect, Latch, Layer, Option, Semaphore } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiConfig } from "../ApiConfig.ts"
import type { PageRow } from "../http/serve.ts"
import { PERSONAL, UNKNOWN_LINK } from "./htmlPage.ts"

const REFRESH = "10 seconds"
/** How long the start waits for the first reading. */
const FIRST_READ_LIMIT = "2 seconds"
/** Wait before a refresh for unknown names, so that they cost the database little. */
const UNKNOWN_WAIT = "1 second"
/** Maximum number of names waiting for a refresh; further ones count as unknown. A quarter of a proxy's connections to the admin port. */
const MAX_WAITING = 16

/**
 * Caches the link domains of organizations, so that requests don't wait for the database.
 *
 * Other hosts are served as the deployment itself: a proxy may change the name, and the seal of a link doesn't depend on it.
 */
export class LinkDomains extends Context.Service<LinkDomains>()("api/tracking/LinkDomains", {
  make: Effect.gen(function* () {
    const repository = yield* LinkDomainRepository
    const monitor = yield* DatabaseMonitor
    const ownHost = new URL((yield* ApiConfig).publicBaseUrl).hostname
    let owners: ReadonlyMap<string, OrganizationId> = new Map()
    const waiting = yield* Semaphore.make(MAX_WAITING)

    const read = Effect.gen(function* () {
      const served = yield* repository.readServed()
      // An organization must not take over the API's own host.
      owners = new Map(served.flatMap((row) => (row.domain === ownHost ? [] : [[row.domain, row.organizationId]])))
    }).pipe(
      Effect.catchCause(
        Effect.fnUntraced(function* (cause) {
          if (yield* monitor.covers(cause)) return
          yield* Effect.annotateLogs(Effect.logError("link domains could not be read"), {
            errors: describeCause(cause),
          })
        }),
      ),
    )
    const wasRead = yield* Latch.make()
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.andThen(read, wasRead.open), Effect.sleep(REFRESH))))
    // Until then, every page is served under a link domain. An unavailable database must not keep the API from starting.
    yield* Effect.timeoutOption(wasRead.await, FIRST_READ_LIMIT)

    const areKnown = yield* coalesce(
      MAX_WAITING,
      Effect.fnUntraced(function* (domains: ReadonlyArray<string>) {
        yield* Effect.sleep(UNKNOWN_WAIT)
        yield* read
        return domains.map((domain) => owners.has(domain))
      }),
    )

    const ownerOf = (host: string | undefined) => owners.get(domainOfHost(host))
    return {
      /** Returns whether a host serves an organization's links. */
      serves: (host: string | undefined, organizationId: OrganizationId): boolean =>
        (ownerOf(host) ?? organizationId) === organizationId,
      /** Returns whether a host serves only links. */
      isLinkDomain: (host: string | undefined): boolean => ownerOf(host) !== undefined,
      /** Returns whether a proxy may request a certificate for a name: a domain that is verified, or being verified. */
      mayBeCertified: (name: string): Effect.Effect<boolean> => {
        const domain = domainOfHost(name)
        if (owners.has(domain) || toAsciiDomain(domain) === undefined) return Effect.succeed(owners.has(domain))
        return Effect.map(
          waiting.withPermitsIfAvailable(1)(areKnown(domain)),
          Option.getOrElse(() => false),
        )
      },
    }
  }),
}) {
  static readonly layer = Layer.effect(LinkDomains, LinkDomains.make)
}

/** Returns the name in a `Host` header, without port and trailing dot. */
const domainOfHost = (host = ""): string => host.toLowerCase().replace(/\.?(?::\d*)?$/, "")

/** Proves to `ops senders verify` that requests for a domain reach this deployment. */
export const linkDomainPages = Effect.gen(function* () {
  const seal = yield* TrackingSeal
  const prove = Effect.map(HttpServerRequest.HttpServerRequest, ({ url, headers }) => {
    const challenge = url.slice(LINK_DOMAIN_PROOF_PATH.length)
    if (!isLinkDomainChallenge(challenge)) return UNKNOWN_LINK
    return HttpServerResponse.text(proveLinkDomain(seal, domainOfHost(headers["host"]), challenge), {
      headers: PERSONAL,
    })
  })
  return [["GET", `${LINK_DOMAIN_PROOF_PATH}*`, prove]] satisfies ReadonlyArray<PageRow<never>>
})
