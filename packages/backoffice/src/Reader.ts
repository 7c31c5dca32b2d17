// A reader is a service of questions to the database.
export { DatabaseService as Reader } from "@outreach/postgres/adapter"
