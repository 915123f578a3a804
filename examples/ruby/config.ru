# frozen_string_literal: true

# SIGNING_KEY=... puma --bind tcp://127.0.0.1:8080
require_relative 'receiver'

$stdout.sync = true
run(Receiver.new(ENV.fetch('SIGNING_KEY', nil), ENV.fetch('MESSAGES', 'messages')) do |message|
  puts "#{message['event_type']} of payment #{message['resource_id']}"
end)
