import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { definePage } from "../../http/Route.ts"
import { consoleSettings } from "./consoleSettings.ts"
import { Problems } from "./Problems.tsx"
import { readSystem } from "./readSystem.ts"
import { Processes, Server } from "./Server.tsx"
import { Settings, Storage } from "./Storage.tsx"

/** `/system`: what runs, on which database, and what is wrong with it. */
export const systemPage = definePage({
  path: "/system",
  run: Effect.fnUntraced(function* () {
    const system = yield* readSystem
    const settings = consoleSettings(yield* ConsoleConfig)
    return {
      title: "System",
      commands: ["ops doctor", "ops status", "ops database status"],
      body: (
        <>
          <Problems {...system} />
          <Processes {...system} />
          <Server {...system} />
          <Storage {...system} />
          <Settings {...system} consoleSettings={settings} />
        </>
      ),
    }
  }),
})
