/** The least memory of a service like this one: an HTTP server, and SQLite on a thread of its own. */
const { createServer } = require('node:http')
const { DatabaseSync } = require('node:sqlite')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')

if (isMainThread) {
  const writer = new Worker(__filename)
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      writer.postMessage(JSON.stringify(JSON.parse(body || '{}')))
      writer.once('message', () => response.writeHead(201).end(body))
    })
  })
  server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`))
} else {
  const database = new DatabaseSync(':memory:')
  database.exec('create table payments (body text) strict')
  const insert = database.prepare('insert into payments (body) values (?)')
  parentPort.on('message', body => {
    insert.run(body)
    parentPort.postMessage('written')
  })
}
