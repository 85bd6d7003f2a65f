# Needs a Rust toolchain on the PATH: vcpkg has none of its own. SHA512 is that of the archive of the tag.
vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO OWNER/zcodec
    REF "v${VERSION}"
    SHA512 0
    HEAD_REF main
)

find_program(CARGO cargo PATHS "$ENV{HOME}/.cargo/bin" "$ENV{USERPROFILE}/.cargo/bin" REQUIRED)
get_filename_component(cargo_folder "${CARGO}" DIRECTORY)
vcpkg_add_to_path("${cargo_folder}") # for scripts/licences.py
if(VCPKG_TARGET_ARCHITECTURE STREQUAL "x64")
    set(rust_arch x86_64)
elseif(VCPKG_TARGET_ARCHITECTURE STREQUAL "arm64")
    set(rust_arch aarch64)
else()
    message(FATAL_ERROR "zcodec is for x64 and arm64, not ${VCPKG_TARGET_ARCHITECTURE}")
endif()
if(VCPKG_TARGET_IS_MINGW AND rust_arch STREQUAL "aarch64")
    set(rust_target aarch64-pc-windows-gnullvm)
elseif(VCPKG_TARGET_IS_MINGW)
    set(rust_target x86_64-pc-windows-gnu)
elseif(VCPKG_TARGET_IS_WINDOWS)
    set(rust_target ${rust_arch}-pc-windows-msvc)
elseif(VCPKG_TARGET_IS_OSX)
    set(rust_target ${rust_arch}-apple-darwin)
else()
    set(rust_target ${rust_arch}-unknown-linux-gnu)
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DZCODEC_BUILD_TESTS=OFF
        -DZCODEC_BUILD_EXAMPLES=OFF
        -DZCODEC_INSTALL=ON
        "-DZCODEC_CARGO=${CARGO}"
        "-DZCODEC_CARGO_TARGET=${rust_target}"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/zcodec)
vcpkg_fixup_pkgconfig()

# Both libraries are always built; the triplet says which one stays.
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
    set(unwanted libzcodec.so* libzcodec*.dylib libzcodec.dll.a zcodec.dll.lib)
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin" "${CURRENT_PACKAGES_DIR}/debug/bin")
else()
    set(unwanted libzcodec.a zcodec.lib)
endif()
foreach(pattern IN LISTS unwanted)
    file(GLOB found "${CURRENT_PACKAGES_DIR}/lib/${pattern}" "${CURRENT_PACKAGES_DIR}/debug/lib/${pattern}")
    if(found)
        file(REMOVE ${found})
    endif()
endforeach()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
# Of all that is linked.
vcpkg_find_acquire_program(PYTHON3)
set(licences "${CURRENT_BUILDTREES_DIR}/LICENCES.txt")
execute_process(COMMAND "${PYTHON3}" scripts/licences.py ${rust_target} WORKING_DIRECTORY "${SOURCE_PATH}"
                OUTPUT_FILE "${licences}" COMMAND_ERROR_IS_FATAL ANY)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE" "${licences}")
