/** Prelude of the WebAssembly Ruby: paths of libraries, and clear errors for what it cannot do. */
export const WASM_PRELUDE = `
$LOAD_PATH.concat(Dir.glob("/usr/local/lib/ruby/gems/*/gems/*/lib"))
$LOADED_FEATURES << "socket.rb" << "socket.so"
class Socket; AF_UNSPEC = 0; AF_INET = 2; AF_INET6 = 10; end
class IPSocket; end

# The bridge to JavaScript: its calls end in the host, which refuses them, and that would end this Ruby.
Object.send(:remove_const, :JS) if defined?(JS)
$LOADED_FEATURES << "js.rb" << "js.so"

class NotInThisRuby < StandardError
  def initialize(what)
    super("#{what} is not there in the built-in Ruby")
  end
end

module Kernel
  %i[system spawn fork exec trap].each do |name|
    define_method(name) { |*| raise NotInThisRuby, name }
    define_singleton_method(name) { |*| raise NotInThisRuby, name }
  end

  define_method(:${"`"}) { |*| raise NotInThisRuby, "running commands" }
end

# A library that does not come with it.
class LoadError
  def to_s
    "#{super}, which is not there in the built-in Ruby"
  end
end

%i[TCPSocket TCPServer UDPSocket UNIXSocket UNIXServer].each do |name|
  Object.const_set(name, Class.new do
    %i[new open].each { |way| define_singleton_method(way) { |*| raise NotInThisRuby, name } }
  end)
end

class << IO
  def popen(*) = raise(NotInThisRuby, "IO.popen")
end

class << Process
  %i[spawn fork exec daemon].each { |name| define_method(name) { |*| raise NotInThisRuby, "Process.#{name}" } }
end
`;
