import { loadModulesFast } from "./loadModulesFast.ts"

loadModulesFast()
const { runOps } = await import("./runOps.ts")
runOps()
