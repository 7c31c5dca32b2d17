import { createServer } from "node:http"
import { getRequestListener } from "@hono/node-server"
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from "aws-lambda"
import express from "express"
// @ts-expect-error one kind of types at a time: those of Express 5 are there
import express4 from "express-4"
import fastify from "fastify"
import { Hono } from "hono"
import * as expressAdapter from "../src/express.ts"
import * as fastifyAdapter from "../src/fastify.ts"
import * as fetchAdapter from "../src/fetch.ts"
import * as honoAdapter from "../src/hono.ts"
import type { WebhookEvent, WebhookVerifier } from "../src/index.ts"
import * as lambdaAdapter from "../src/lambda.ts"
import * as nodeAdapter from "../src/node.ts"
import type { HandlerOptions, WebhookHandler } from "../src/receive.ts"
import { serveHttp } from "./serveHttp.ts"

/** A server of one framework, its one route at `/webhooks`. */
export interface Receiver {
  readonly framework: string
  serve(
    verifier: WebhookVerifier,
    handle: WebhookHandler<WebhookEvent>,
    options: HandlerOptions,
  ): Promise<{ url: string } & AsyncDisposable>
}

/** Each adapter in its own framework, listening on a port. */
export const receivers: readonly Receiver[] = [
  {
    framework: "node:http",
    serve: (...given) => serveHttp(createServer(nodeAdapter.webhookHandler(...given))),
  },
  {
    framework: "Express 5",
    serve: (...given) => serveHttp(createServer(express().post("/webhooks", expressAdapter.webhookHandler(...given)))),
  },
  {
    framework: "Express 5 after express.raw()",
    serve: (...given) => {
      const app = express()
      app.use(express.raw({ type: "*/*", limit: "2mb" }))
      app.post("/webhooks", expressAdapter.webhookHandler(...given))
      return serveHttp(createServer(app))
    },
  },
  {
    framework: "Express 5 after express.json() that keeps the bytes",
    serve: (...given) => {
      const app = express()
      app.use(express.json({ limit: "2mb", verify: (request, _, bytes) => Object.assign(request, { rawBody: bytes }) }))
      app.post("/webhooks", expressAdapter.webhookHandler(...given))
      // Its own answer to JSON that it cannot parse.
      return serveHttp(createServer(app))
    },
  },
  {
    framework: "Express 4",
    serve: (...given) => serveHttp(createServer(express4().post("/webhooks", expressAdapter.webhookHandler(...given)))),
  },
  {
    framework: "Fastify",
    serve: async (verifier, handle, options) => {
      const app = fastify()
      app.post("/other", async (request) => request.body)
      app.register(fastifyAdapter.webhookPlugin(verifier, handle, { ...options, url: "/webhooks" }))
      await app.listen({ port: 0, host: "127.0.0.1" })
      return serveHttp(app.server)
    },
  },
  {
    framework: "Hono",
    serve: (...given) =>
      serveHttp(getRequestListener(new Hono().post("/webhooks", honoAdapter.webhookHandler(...given)).fetch)),
  },
  {
    framework: "Hono after a middleware that read the bytes",
    serve: (...given) => {
      const app = new Hono()
      app.use(async (context, next) => {
        await context.req.arrayBuffer()
        await next()
      })
      app.post("/webhooks", honoAdapter.webhookHandler(...given))
      return serveHttp(getRequestListener(app.fetch))
    },
  },
  {
    framework: "a Fetch server",
    serve: (...given) => serveHttp(getRequestListener(fetchAdapter.webhookHandler(...given))),
  },
  {
    framework: "a route that is handed { request }",
    serve: (...given) => {
      const route = fetchAdapter.webhookHandler(...given)
      return serveHttp(getRequestListener((request) => route({ request })))
    },
  },
  {
    framework: "AWS Lambda behind a function URL",
    serve: (...given) => serveLambda(lambdaAdapter.webhookHandler(...given), true),
  },
  {
    framework: "AWS Lambda behind API Gateway as text",
    serve: (...given) => serveLambda(lambdaAdapter.webhookHandler(...given), false),
  },
]

/** Hands requests on as AWS does: payload 2.0 with base64, or payload 1.0 with text and lists of headers. */
function serveLambda(
  handler: (event: APIGatewayProxyEvent | APIGatewayProxyEventV2) => Promise<lambdaAdapter.LambdaResult>,
  isBase64Encoded: boolean,
): ReturnType<typeof serveHttp> {
  return serveHttp(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray())
    const body = isBase64Encoded ? bytes.toString("base64") : bytes.toString("utf8")
    const headers = isBase64Encoded ? { headers: request.headers } : { multiValueHeaders: request.headersDistinct }
    const event = { ...headers, body: body === "" ? null : body, isBase64Encoded }
    const result = await handler(event as unknown as APIGatewayProxyEventV2)
    response.writeHead(result.statusCode, result.headers).end(result.body)
  })
}
