/** Whether this runs from the sources in a clone. Otherwise it is the published package. */
export const IS_CLONE: boolean = import.meta.filename.endsWith(".ts")

/** How users start the sandbox, `ops` and the webhook command: in a clone, or from npm. */
export const COMMANDS = IS_CLONE
  ? { sandbox: "npm start --", ops: "npm run ops --", webhook: "npm run --silent webhook --" }
  : {
      sandbox: "npx @outreach/sandbox",
      ops: "npx @outreach/sandbox ops",
      webhook: "npx @outreach/webhook-verifier",
    }
