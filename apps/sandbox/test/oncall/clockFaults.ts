import type { Fault } from "./Fault.ts"

/** Two hours, and the hour in which a partner fails, in days. */
const [TWO_HOURS, AN_HOUR] = [2 / 24, 65 / 1440]

const lacks: Fault["lacks"] = ({ clocks }) => ("missing" in clocks ? clocks.missing : undefined)

/** Faults that need adjustable clocks. */
export const clockFaults: ReadonlyArray<Fault> = [
  {
    name: "worker-clock-wrong",
    fault: "The clock of the worker's machine is two hours ahead",
    lacks,
    signals: [
      { alert: "OutreachWorkersPaused" },
      { log: "worker paused, its clock and the database's differ by over an hour", of: "worker" },
    ],
    remedy: ["chronyc makestep"],
    break: ({ clocks }) => clocks.set({ worker: TWO_HOURS, database: 0 }),
  },
  {
    name: "database-clock-wrong",
    fault: "The clock of the database's machine is two hours ahead",
    lacks,
    signals: [
      { alert: "OutreachWorkersPaused" },
      { alert: "OutreachClockDoubted" },
      { log: "database clock not trusted", of: "worker" },
      { prints: "don't trust the database's clock", command: "ops doctor | grep clock" },
    ],
    remedy: ["chronyc makestep"],
    break: ({ clocks }) => clocks.set({ worker: 0, database: TWO_HOURS }),
  },
  {
    name: "partner-down-for-an-hour",
    fault: "A partner returns 500 for an hour",
    lacks,
    signals: [{ alert: "OutreachPartnerDown" }, { prints: "open", command: "ops endpoints list" }],
    outside: "The partner fixes it",
    remedy: [],
    break: async (stage) => {
      stage.proxy.answerWith(500)
      await stage.shell("until ops status | grep -q failing; do sleep 1; done")
      // From here on, both clocks are an hour ahead, so verifiers would reject the webhooks.
      await stage.clocks.set({ worker: AN_HOUR, database: AN_HOUR })
      return async () => stage.proxy.answerWith(204)
    },
  },
]
