export { freePort } from "@outreach/embedded-postgres/freePort"
