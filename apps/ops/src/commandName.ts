/** The name of the command line in its help and its completions. A wrapper, such as deploy/outreach-ops, sets its own name. */
export const COMMAND_NAME: string = process.env["OPS_COMMAND"] ?? "ops"
