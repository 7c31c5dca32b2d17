import { NestFactory } from "@nestjs/core"
import type { NestExpressApplication } from "@nestjs/platform-express"
import { AppModule } from "./app.module.ts"
import { WebhooksService } from "./webhooks.service.ts"

const app = await NestFactory.create<NestExpressApplication>(AppModule)
// Before Nest's parsers, which `listen` adds: the signature covers the raw bytes.
app.use("/webhooks", app.get(WebhooksService).receive)
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? "0.0.0.0")
