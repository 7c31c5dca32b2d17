import { setTimeout } from "node:timers/promises"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { startStandby } from "@outreach/embedded-postgres/startStandby"
import type { AtEnd } from "@outreach/testing/startProcess"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import type { Scenario } from "./runScenario.ts"

const CUT_OFF_MS = 3000
/** A killed process doesn't lose commits. */
const DURABLE = { synchronous_commit: "on" }

/** The primary is killed after its asynchronous standby, with a slow clock, was disconnected for some seconds. */
export const laggingStandby =
  (libfaketime: string, clockBehindSeconds: number, settings: Readonly<Record<string, string>> = {}) =>
  async (atEnd: AtEnd): Promise<Scenario> => {
    const primary = await startPostgres({ settings: DURABLE })
    atEnd(primary.stop)
    const [address, link] = [await tcpProxy(primary.port, atEnd), await tcpProxy(primary.port, atEnd)]
    const standby = await startStandby(primary, {
      name: "s1",
      replicateFrom: link.address,
      settings: DURABLE,
      environment: {
        LD_PRELOAD: libfaketime,
        FAKETIME: `-${clockBehindSeconds}s`,
        // Only the wall clock is wrong.
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      },
    })
    atEnd(standby.stop)
    return {
      urls: [address.through(primary.url)],
      settings,
      strike: async () => {
        link.cut()
        await setTimeout(CUT_OFF_MS)
        await primary.kill()
        await standby.promote()
        address.moveTo(standby.port, "reset")
      },
    }
  }
