export { reservePort } from "@outreach/embedded-postgres/reservePort"
