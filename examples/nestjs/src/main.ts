import { NestFactory } from "@nestjs/core"
import type { NestExpressApplication } from "@nestjs/platform-express"
import { AppModule } from "./app.module.ts"

// The signature covers the bytes of the body, which `rawBody` keeps beside the parsed one.
const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true })
// An event is up to 1 MiB, and Nest takes 100 KB unless told.
app.useBodyParser("json", { limit: "1mb" })
await app.listen(process.env.PORT ?? 3000)
