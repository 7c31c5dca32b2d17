import { readFileSync } from "node:fs"

const RULE = new URL("../../../../deploy/kubernetes/alerts.yaml", import.meta.url)

/** Returns the alert rules as a file for Prometheus. */
export const alertRules = (): string =>
  readFileSync(RULE, "utf8")
    .replace(/^.*?^spec:\n/ms, "")
    .replaceAll(/^ {2}/gm, "")
