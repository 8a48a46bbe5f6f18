# SPDX-License-Identifier: MIT
#
# homebrew_formula.rb FORMULA PREFIX ETC: what Homebrew would do in a clone of the project, without
# Homebrew: install the formula below PREFIX, with its configuration below ETC, and run its own test.
require "pathname"
require "tmpdir"

class Formula
  class << self
    attr_reader :trial

    def desc(_) = nil
    def license(_) = nil
    def head(_, **) = nil
    def depends_on(_) = nil
    def service = nil

    def test(&block) = @trial = block
  end

  attr_reader :prefix, :etc, :testpath

  def initialize(prefix, etc, testpath)
    @prefix, @etc, @testpath = [prefix, etc, testpath].map { |name| Pathname(name) }
  end

  def include = prefix/"include"
  def lib = prefix/"lib"
  def sbin = prefix/"sbin"
  def std_meson_args = ["--prefix=#{prefix}", "--libdir=#{lib}", "--buildtype=release"]

  def system(*words)
    Kernel.system(*words.map(&:to_s)) || abort("failed: #{words.join(" ")}")
  end
end

ENV.define_singleton_method(:cc) { "cc" }
file, prefix, etc = ARGV
load file
Dir.mktmpdir do |testpath|
  formula = Timebase.new(prefix, etc, testpath)
  formula.install
  Dir.chdir(testpath) { formula.instance_eval(&Timebase.trial) }
end
