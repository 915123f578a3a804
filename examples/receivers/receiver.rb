# Receives webhook messages and refuses those that are not signed with SIGNING_KEY. Needs Ruby 3.0 and no gem.
# Run it with: SIGNING_KEY=... ruby receiver.rb 8080
require 'json'
require 'openssl'
require 'socket'

def respond(socket, status)
  socket.write("HTTP/1.1 #{status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  socket.close
end

def receive(socket)
  socket.gets
  headers = {}
  while (line = socket.gets.to_s.chomp) != ''
    name, value = line.split(/:\s*/, 2)
    headers[name.downcase] = value
  end
  body = socket.read(headers['content-length'].to_i) # The raw bytes: JSON that is printed again has another signature.
  right = OpenSSL::HMAC.hexdigest('SHA256', ENV.fetch('SIGNING_KEY'), body)
  return respond(socket, '401 Unauthorized') unless OpenSSL.secure_compare(right, headers['pay-signature'].to_s)

  message = JSON.parse(body)
  puts "#{message['event_type']} of payment #{message['resource_id']}"
  respond(socket, '200 OK')
end

$stdout.sync = true
server = TCPServer.new('127.0.0.1', ARGV.fetch(0).to_i)
loop { Thread.new(server.accept) { |socket| receive(socket) } }
