# One request on standard input, one reply on standard output. Nothing here changes from version 1 to version 2.
require "json"
require_relative "cloud"

# Calls the method of what the block makes of configuration and request.
def answer(methods)
  config = JSON.parse(File.read(ARGV.fetch(ARGV.index("--configFile") + 1))).dig("cloud", "properties")
  request = JSON.parse($stdin.read)
  raise CpiError.new("CpiError", "a request is an object") unless request.is_a?(Hash)

  method, arguments = request.values_at("method", "arguments")
  raise CpiError.new("CpiError", "method must be a string") unless method.is_a?(String)
  raise CpiError.new("CpiError", "arguments must be a list") unless arguments.is_a?(Array)
  raise CpiError.new("NotImplemented", "Method is not known, got: '#{method}'") unless methods.include?(method)

  { result: yield(config, request).public_send(method, *arguments), error: nil }
rescue CpiError => e
  { result: nil, error: { type: e.type, message: e.message, ok_to_retry: false } }
rescue JSON::ParserError, ArgumentError => e
  { result: nil, error: { type: "Bosh::Clouds::CpiError", message: e.message.lines.first, ok_to_retry: false } }
rescue StandardError => e
  { result: nil, error: { type: "Bosh::Clouds::CloudError", message: e.message, ok_to_retry: false } }
end

def serve(methods, &make) = puts(JSON.dump(answer(methods, &make).merge(log: "")))
