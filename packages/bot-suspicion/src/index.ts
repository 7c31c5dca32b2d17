export { AGENTS, NETWORKS, type ScannerAgent, type ScannerNetwork, SOURCES, type Source } from "./scanners.ts"
export { type Circumstances, type Hit, type HitHeaders, type Reason, type Suspicion, suspect } from "./suspect.ts"
